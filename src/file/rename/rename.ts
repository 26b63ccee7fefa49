import { metadata } from "../../operation/common-params.ts";
import { put } from "../../operation/effects.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { parseLeaseId } from "../../protocol/lease.ts";
import { renameSource } from "../../protocol/named-resource.ts";
import type { WaitDecision } from "../../operation/reply.ts";
import { boolean, header, text } from "../../protocol/params.ts";
import type { InputOf, Param } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import type { Failure } from "../../protocol/result.ts";
import { ticksFromSeconds } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { openBelow } from "../directory/children.ts";
import { firstHardLink } from "../link/hard-link-names.ts";
import type { NodeChange } from "../events.ts";
import { locks, rootId } from "../records.ts";
import type { NodeRecord } from "../records.ts";
import { checkFileAccess, fileOperation } from "../file-operation.ts";
import { displaceAccess, moveAccess, removeAccess } from "../locks/file-access.ts";
import { deletePending, flushSecondsMax, faultWithHolders } from "../locks/rest-access.ts";
import type { NodeScope } from "../resources.ts";
import { keepsTrailingDots } from "../file-address.ts";
import { keepsSourceTrailingDots, smbProperties } from "../shared/smb-params.ts";
import {
  readInheritedSddl,
  resolveSmbProperties,
  serverEncrypted,
  smbHeaders,
} from "../shared/smb-properties.ts";
import { moveName } from "./move.ts";
import { refuseRename } from "./rename-rules.ts";
import type { CachedBelow, RenameFacts, RenameRefusal } from "./rename-rules.ts";
import { loadLocalSource, type LocalSource } from "../shared/range-params.ts";

/** Rename File and Rename Directory over REST. */

/** The parameter of a lease id: a rename has one for the source and one for the target. */
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
  smb: smbProperties({
    words: ["now", "preserve", "source", "none"],
    requiredByOldVersions: false,
  }),
  keepsTrailingDots,
  keepsSourceTrailingDots,
};

/** Renames a file or directory within a share, in one transaction whose cost does not depend on the
 *  number of files below a directory. With `replaces`, a file that has the new name is deleted; if
 *  it is open, at its last close. learn.microsoft.com/rest/api/storageservices/rename-file */
function declareRename(kind: "file" | "directory") {
  const isFile = kind === "file";
  return fileOperation({
    name: isFile ? "Rename File" : "Rename Directory",
    ids: [isFile ? "File_Rename" : "Directory_Rename"],
    route: {
      method: "PUT",
      resource: "entry",
      query: isFile ? { comp: "rename" } : { restype: "directory", comp: "rename" },
    },
    since: "2021-04-10",
    params,
    namedResources: [renameSource],
    permission: { letters: "w", resourceType: "o" },
    target: "optional",
    conditions: "none",
    lease: "none",
    etag: "renew",
    fileAccess: displaceAccess,
    event: isFile ? "RenameFile" : "RenameDirectory",
    reads: async (view, { source, input, scope, target }) => {
      const keepsDots = input.keepsSourceTrailingDots;
      const localSource = await loadLocalSource(view, source, { keepsTrailingDots: keepsDots });
      const present = localSource?.ok === true ? localSource.value.node : undefined;
      return {
        localSource,
        targetLink: target && (await firstHardLink(view, scope.share.id, target)),
        inherited: await readInheritedSddl(view, scope, input.smb, present),
        handles: await readHandles(view, scope, present),
      };
    },
    decide: (context) => {
      const { target, scope, input, source, newETag, now, version } = context;
      const { localSource: found, targetLink, inherited, handles } = context.readResult;
      if (found === undefined) return invalidHeader("x-ms-file-rename-source", source?.url ?? "");
      if (!found.ok) return found;
      const { value: localSource } = found;
      const stop = checkRename({ localSource, scope, target, input, kind, now, ...handles });
      if (stop !== undefined) return stop;
      const { locks: held } = localSource.scope;
      const file = { locks: held, share: scope.share.id, id: localSource.node.id, now };
      const moving = checkFileAccess(isFile ? moveAccess : removeAccess, file);
      if ("stop" in moving) return moving.stop;
      const renamed = renamedNode(localSource.node, { scope, inherited }, input, newETag);
      if (!renamed.ok) return renamed;
      const { next, effects } = renamed.value;
      const moved = moveName({ source: localSource, scope, target, targetLink, next, now });
      return {
        etag: newETag,
        event: renamedFrom(localSource, next),
        effects: [...moved, ...effects, ...moving.effects],
        headers: [smbHeaders(next, version), serverEncrypted],
      };
    },
  });
}

/** The change that the event log gets. Its source is the entry that was renamed: of a hard link the
 *  link itself, not the file that it refers to. */
function renamedFrom({ scope, node }: LocalSource, next: NodeRecord): readonly NodeChange[] {
  return [{ node: next, source: scope.hardLink?.node ?? node }];
}

export const renameFile = declareRename("file");
export const renameDirectory = declareRename("directory");

type Input = InputOf<typeof params>;

async function readHandles(
  view: RecordView,
  { share: { id: share }, key, hardLink }: NodeScope,
  moved: NodeRecord | undefined,
): Promise<Pick<RenameFacts, "parentLocks" | "openBelow">> {
  const { parent } = hardLink?.key ?? key;
  const isDirectory = moved?.kind === "directory" && moved.id !== rootId;
  return {
    parentLocks: await view.get(locks, { share, id: parent }),
    openBelow: isDirectory ? await openBelow(view, share, moved.id) : [],
  };
}

/** The record of the renamed file, with the properties that the request sets, and the effects of
 *  storing its permission. */
function renamedNode(
  node: NodeRecord,
  { scope, inherited }: { readonly scope: NodeScope; readonly inherited: string | undefined },
  input: Input,
  newETag: Ticks,
) {
  const { share, parent, name } = scope;
  const context = { share, parent, parentSddl: inherited, kind: node.kind, now: newETag };
  const resolved = resolveSmbProperties({ ...context, present: node, input: input.smb });
  if (!resolved.ok) return resolved;
  const { contentType } = input;
  const headers = contentType === undefined ? node.headers : { ...node.headers, contentType };
  const next: NodeRecord = {
    ...node,
    ...resolved.value.properties,
    etag: newETag,
    parent: parent.id,
    name,
    metadata: input.metadata.length > 0 ? input.metadata : node.metadata,
    headers,
  };
  return ok({ next, effects: resolved.value.effects });
}

interface RenameCheck extends Pick<RenameFacts, "parentLocks" | "openBelow" | "now"> {
  readonly localSource: LocalSource;
  readonly scope: NodeScope;
  readonly target: NodeRecord | undefined;
  readonly input: Input;
  readonly kind: "file" | "directory";
}

/** Checks that both paths are in one share and that the source is of the kind that the operation
 *  renames; then the rules that SMB shares (`refuseRename`). */
function checkRename(checked: RenameCheck): Failure | WaitDecision | undefined {
  const { localSource, scope, target, input, kind, ...handles } = checked;
  const { node: source, scope: from } = localSource;
  if (from.share.id !== scope.share.id || from.snapshot !== undefined) return fail("InvalidInput");
  const isDirectory = source.kind === "directory";
  if (source.id !== rootId && isDirectory !== (kind === "directory")) {
    return fail("ResourceTypeMismatch");
  }
  const refusal = refuseRename({
    ...handles,
    source,
    trail: scope.trail,
    target: target?.id === source.id ? undefined : target,
    replaces: input.replaces === true,
    ignoresReadOnly: input.ignoresReadOnly === true,
    sourceLease: input.sourceLease,
    targetLease: input.destinationLease,
  });
  if (refusal?.why === "cached-below") return waitForCaches(refusal, scope.share.id, checked.now);
  return refusal && failureOf(refusal);
}

/** Waits for SMB clients to close handles below the renamed directory that they keep only for
 *  caching, at most for `flushSecondsMax` (30 s); then a fault. */
function waitForCaches(
  { opens, since, file, changedLocks }: CachedBelow,
  share: bigint,
  now: Ticks,
): Failure | WaitDecision {
  const until = since + ticksFromSeconds(flushSecondsMax);
  if (now >= until) return faultWithHolders("SharingViolation", opens);
  const effects = changedLocks.map(({ id, state }) => put(locks, { share, id }, state));
  return { wait: { key: locks.key({ share, id: file }), until }, effects };
}

function failureOf(refusal: Exclude<RenameRefusal, CachedBelow>): Failure {
  switch (refusal.why) {
    case "root":
    case "into-itself":
      return fail("InvalidInput");
    case "name-taken":
    case "directory-in-place":
      return fail("ResourceAlreadyExists");
    case "read-only":
      return fail("ReadOnlyAttribute");
    case "leased":
      return refusal.failure;
    case "parent-delete-pending":
      return deletePending;
    case "open-below":
    case "parent-in-use":
      return faultWithHolders("SharingViolation", refusal.opens);
  }
}
