import { fail } from "../../protocol/result.ts";

/** The fault of a request that cannot be served now. Clients should retry after 1 s: an engine that
 *  was unreachable is usually available again within seconds. */
export const serverBusy = fail("ServerBusy", { headers: { "Retry-After": "1" } });

/** The fault of a write that would take the account above its byte quota. The service documents
 *  this text for an account limit. Without Retry-After: time alone does not help. */
export const overQuota = fail("ServerBusy", { message: "Ingress is over the account limit." });
