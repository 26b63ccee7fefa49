import { fail } from "../protocol/result.ts";

/** The fault of a request that cannot be served now. Clients should retry after 1 s: an engine that
 *  was unreachable is usually available again within seconds. */
export const serverBusy = fail("ServerBusy", { headers: { "Retry-After": "1" } });
