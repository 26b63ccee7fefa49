import { fail } from "../protocol/result.ts";

/** Retry after 1 s: an engine that was unreachable is usually back within seconds. */
export const serverBusy = fail("ServerBusy", { headers: { "Retry-After": "1" } });
