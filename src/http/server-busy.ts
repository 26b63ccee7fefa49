import { fail } from "../protocol/result.ts";

/** An engine that was away is there again within seconds, or after many more. */
export const serverBusy = fail("ServerBusy", { headers: { "Retry-After": "1" } });
