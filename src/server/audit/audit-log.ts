import { createHash } from "node:crypto";
import type { AdminAudit } from "../../admin/admin-audit.ts";
import { formatIso } from "../../base/dates.ts";
import type { Clock, Log } from "../../base/world.ts";
import type { ObservedRequest } from "../../http/observer.ts";
import type { Principal } from "../../protocol/principal.ts";
import type { WriteSmbAudit } from "../../smb/audit/audit-entry.ts";
import { AuditFile } from "./audit-file.ts";
import type { Options } from "../options.ts";
import { messageOf, StartRefused } from "../start-refused.ts";

/** Records who did what, as lines of JSON. */
export interface AuditLog {
  readonly request: (observed: ObservedRequest) => void;
  readonly admin: (audited: AdminAudit) => void;
  readonly smb: WriteSmbAudit;
  reopen(): Promise<void>;
  close(): Promise<void>;
}

interface AuditWorld {
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined if the server is one process. */
  readonly worker?: { readonly isMain: boolean } | undefined;
}

const bytesPerMegabyte = 1_000_000;
/** Longer paths are cut. */
const pathUnitsMax = 2048;
const signatureDigits = 16;

/** Opens the file of `--auditLog`; undefined without one. */
export async function openAuditLog(
  { auditLog: path, auditLogMegabytes, auditLogFiles }: Options,
  { clock, log, worker }: AuditWorld,
): Promise<AuditLog | undefined> {
  if (path === undefined) return undefined;
  const bytesMax = auditLogMegabytes * bytesPerMegabyte;
  const rotates = worker?.isMain !== false;
  const options = { path, bytesMax, oldFilesMax: auditLogFiles, rotates, clock, log };
  const file = await AuditFile.open(options).catch((error: unknown) => {
    throw new StartRefused([`auditLog: cannot be opened (${messageOf(error)})`], error);
  });
  const write = (entry: object): void =>
    file.append(JSON.stringify({ time: formatIso(clock.wall()), ...entry }));
  return {
    request: (observed) => write(requestEntry(observed)),
    admin: (audited) => write({ service: "admin", ...audited }),
    smb: ({ details, ...audited }) => write({ service: "smb", ...audited, ...details }),
    reopen: () => file.reopen(),
    close: () => file.close(),
  };
}

function requestEntry({ http, context, reply }: ObservedRequest): object {
  const { request, requestId, operation, principal } = context;
  const [path = "", query = ""] = request.target.split("?", 2);
  return {
    service: http.service.api ?? http.service.name,
    operation: operation?.name,
    method: request.method,
    resource: path.slice(0, pathUnitsMax),
    status: reply.status,
    code: reply.headers["x-ms-error-code"],
    who: callerOf(principal, query),
    client: request.remoteAddress,
    requestId,
  };
}

/** The caller without secrets. A SAS is identified by its stored access policy and by a digest of
 *  its signature, with which the same SAS is found in other lines. */
function callerOf(principal: Principal | undefined, query: string): object {
  switch (principal?.kind) {
    case undefined:
      return { kind: "unauthenticated" };
    case "key":
      return { kind: "key", key: principal.number };
    case "bearer":
      return { kind: "bearer", objectId: principal.objectId, tenantId: principal.tenantId };
    case "account-sas":
      return { kind: "account-sas", signature: signatureDigest(query) };
    case "service-sas": {
      const { identifier } = principal;
      return { kind: "service-sas", identifier, signature: signatureDigest(query) };
    }
    case "delegation-sas": {
      const { objectId, tenantId } = principal;
      return { kind: "delegation-sas", objectId, tenantId, signature: signatureDigest(query) };
    }
    case "anonymous":
      return { kind: "anonymous" };
  }
}

function signatureDigest(query: string): string | undefined {
  const signature = new URLSearchParams(query).get("sig");
  if (signature === null) return undefined;
  return createHash("sha256").update(signature).digest("hex").slice(0, signatureDigits);
}
