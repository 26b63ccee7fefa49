import { metadata } from "../../core/common-params.ts";
import { invalidHeader } from "../../core/faults.ts";
import { checkLease } from "../../core/lease.ts";
import { parseLeaseId } from "../../core/lease-request.ts";
import { noBody } from "../../core/operation.ts";
import { boolean, header, text, type Param } from "../../core/params.ts";
import { fail, ok, type Result } from "../../core/result.ts";
import type { Ticks } from "../../core/ticks.ts";
import { rootId, type NodeRecord } from "../records.ts";
import { operation, type NodeScope } from "../resources.ts";
import { readOnlyAttribute } from "../shared/attributes.ts";
import { loadOwnSource, type OwnSource } from "../shared/own-source.ts";
import { keepsSourceTrailingDots, keepsTrailingDots, smbProperties } from "../shared/smb-params.ts";
import { settleSmb, smbHeaderNames, smbHeaders } from "../shared/smb-properties.ts";
import { passShortOpen } from "../through-locks.ts";
import { moveNode } from "./move.ts";

function leaseId(name: string): Param<string | undefined> {
  return { sources: [name], parse: (reader) => parseLeaseId(reader, name) };
}

const params = {
  replaces: header("x-ms-file-rename-replace-if-exists", boolean),
  ignoresReadOnly: header("x-ms-file-rename-ignore-readonly", boolean),
  sourceLease: leaseId("x-ms-source-lease-id"),
  destinationLease: leaseId("x-ms-destination-lease-id"),
  contentType: header("x-ms-content-type", text),
  metadata,
  smb: smbProperties({ words: ["now", "preserve", "source", "none"], requiredOnce: false }),
  keepsTrailingDots,
  keepsSourceTrailingDots,
};

/** Atomic, across directories, at the same cost for a file and for a tree of millions.
 *  learn.microsoft.com/rest/api/storageservices/rename-file */
function declareRename(kind: "file" | "directory") {
  const isFile = kind === "file";
  return operation({
    name: isFile ? "Rename File" : "Rename Directory",
    ids: [isFile ? "File_Rename" : "Directory_Rename"],
    route: {
      method: "PUT",
      resource: "entry",
      query: isFile ? { comp: "rename" } : { restype: "directory", comp: "rename" },
    },
    since: "2021-04-10",
    params,
    body: noBody,
    source: "rename",
    permission: { letters: "w", resourceType: "o" },
    target: "optional",
    conditions: "none",
    lease: "none",
    etag: "renew",
    effect: "writes",
    success: { status: 200, headers: [...smbHeaderNames, "x-ms-request-server-encrypted"] },
    reads: (view, { source, input }) =>
      loadOwnSource(view, source, { keepsTrailingDots: input.keepsSourceTrailingDots }),
    decide: ({ target, scope, input, seen, source, stamp, now, version }) => {
      if (seen === undefined) return invalidHeader("x-ms-file-rename-source", source?.url ?? "");
      if (!seen.ok) return seen;
      const { node, scope: from } = seen.value;
      const fits = checkMove({ own: seen.value, scope, target, kind });
      if (!fits.ok) return fits;
      const leased = checkLease(node.lease, input.sourceLease, "match-if-leased", "file", now);
      if (!leased.ok) return leased;
      const replaced = target?.id === node.id ? undefined : target;
      const free = checkDestination(replaced, input, now);
      if (!free.ok) return free;
      const passage = passShortOpen(`${isFile ? "Rename File" : "Rename Directory"} source`, {
        locks: from.locks,
        share: from.share.id,
        id: node.id,
        now,
      });
      if ("stop" in passage) return passage.stop;
      const { share, parent, name, key } = scope;
      const settled = settleSmb({
        share,
        kind: node.kind,
        parent,
        input: input.smb,
        present: node,
        now: stamp,
      });
      if (!settled.ok) return settled;
      const next: NodeRecord = {
        ...node,
        ...settled.value.properties,
        etag: stamp,
        parent: parent.id,
        name,
        metadata: input.metadata.length > 0 ? input.metadata : node.metadata,
        headers:
          input.contentType === undefined
            ? node.headers
            : { ...node.headers, contentType: input.contentType },
      };
      const moved = moveNode({ share, from: from.key, node, to: key, replaced, next });
      return {
        etag: stamp,
        effects: [...moved, ...settled.value.effects, ...passage.effects],
        headers: { ...smbHeaders(next, version), "x-ms-request-server-encrypted": "true" },
      };
    },
  });
}

export const renameFile = declareRename("file");
export const renameDirectory = declareRename("directory");

interface Checked {
  readonly own: OwnSource;
  readonly scope: NodeScope;
  readonly target: NodeRecord | undefined;
  readonly kind: "file" | "directory";
}

/** Within one share, to a place that is not below itself. */
function checkMove({ own, scope, target, kind }: Checked): Result<void> {
  const { node, scope: from } = own;
  if (from.share.id !== scope.share.id || from.snapshot !== undefined || node.id === rootId) {
    return fail("InvalidInput");
  }
  if ((node.kind === "directory") !== (kind === "directory")) return fail("ResourceTypeMismatch");
  if (scope.trail.includes(node.id)) return fail("InvalidInput");
  const occupied = target?.kind === "directory" && target.id !== node.id;
  return occupied ? fail("ResourceAlreadyExists") : ok(undefined);
}

interface Wishes {
  readonly replaces: boolean | undefined;
  readonly ignoresReadOnly: boolean | undefined;
  readonly destinationLease: string | undefined;
}

function checkDestination(
  replaced: NodeRecord | undefined,
  { replaces, ignoresReadOnly, destinationLease }: Wishes,
  now: Ticks,
): Result<void> {
  if (replaced === undefined) return ok(undefined);
  if (replaces !== true) return fail("ResourceAlreadyExists");
  const readOnly = (replaced.attributes & readOnlyAttribute) !== 0;
  if (readOnly && ignoresReadOnly !== true) return fail("ReadOnlyAttribute");
  return checkLease(replaced.lease, destinationLease, "match-if-leased", "file", now);
}
