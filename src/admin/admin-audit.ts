import type { AdminResponse } from "./admin-response.ts";
import type { AdminRequest } from "./request.ts";
import { archivePath } from "./views/archives.ts";
import type { Grant } from "./security/grant.ts";

/** What the audit log (`--auditLog`) records of a request to the admin API. `handler.ts` makes the
 *  entry with `auditOf`; `server/audit-log.ts` writes it. */
export interface AdminAudit {
  readonly operation: string;
  readonly method: string;
  readonly resource: string;
  readonly status: number;
  readonly who: object;
  readonly client: string;
}

/** Longer paths are cut in the log: callers without a login choose them, too. */
const pathUnitsMax = 2048;
/** Routes that change nothing, but have entries in the audit log because of what they return: keys
 *  of accounts, secrets of principals, and all data of an account. */
const revealingRoutes: ReadonlySet<string | undefined> = new Set([
  "/admin/v1/accounts/:name/key",
  "/admin/v1/identity/environment",
  archivePath,
]);

/** The entry of the audit log for a request; undefined for a request that changes nothing, reveals
 *  no secrets and was not rejected. */
export function auditOf(
  { method, path, remoteAddress }: AdminRequest,
  { status }: Pick<AdminResponse, "status">,
  { route, grant }: { readonly route: string | undefined; readonly grant: Grant | undefined },
): AdminAudit | undefined {
  const isView = method === "GET" || method === "HEAD";
  const isRejected = status === 401 || status === 403 || status === 429;
  if (isView && !isRejected && !revealingRoutes.has(route)) return undefined;
  return {
    operation: route ?? "none",
    method,
    resource: path.slice(0, pathUnitsMax),
    status,
    who: callerOf(grant),
    client: remoteAddress,
  };
}

function callerOf(grant: Grant | undefined): object {
  switch (grant?.kind) {
    case undefined:
      return { kind: "unauthenticated" };
    case "server":
      return { kind: "admin" };
    case "account":
      return grant.account === "" ? { kind: "unauthenticated" } : { ...grant };
    case "principal":
      return { kind: "principal", name: grant.name, objectId: grant.objectId };
  }
}
