import { isWithin } from "../../namespace/resolve.ts";
import { noBody } from "../../operation/operation.ts";
import type { RecordView } from "../../operation/view.ts";
import { directoryChange } from "../../protocol/authorise-acl.ts";
import { isLocked } from "../../protocol/lease.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { pathRenameSource } from "../../protocol/named-resource.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import { checkProtection } from "../protection/protection.ts";
import { uploads, type BlobRecord, type UploadRecord } from "../records.ts";
import { isHierarchical, operation } from "../resources.ts";
import type { BlobAddress, ContainerScope } from "../resources.ts";
import { blobKey } from "../shared/overwrite.ts";
import { generationsOf } from "../shared/soft-delete.ts";
import { deletePath } from "../tree/delete-path.ts";
import { withFolderMark } from "../tree/directory-record.ts";
import { rootName } from "../tree/find-path.ts";
import { movePath } from "../tree/move-path.ts";
import { isLiveSnapshot } from "../write/delete-blob.ts";
import { continuation, continuationHeader } from "./continuation.ts";
import { isReplaceable } from "./delete-path.ts";
import { entryName, properties, transactionId } from "./params.ts";
import { readFlatRename, renameFlat } from "./rename-flat.ts";
import { checkSource, loadSource, sourceConditions, sourceLease } from "./rename-source.ts";
import type { RenameSource } from "./rename-source.ts";

/** Moves a file, or a directory with everything below it, in one commit of constant size, or on
 *  flat accounts in portions (`renameFlat`). ETag and Last-Modified stay the same (recorded).
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/create */
export const renamePath = operation({
  name: "Rename Path",
  ids: [],
  route: { method: "PUT", resource: "blob", headers: { "x-ms-rename-source": true } },
  since: "2018-11-09",
  params: {
    entryName,
    properties,
    sourceConditions,
    sourceLease,
    transactionId,
    continuation,
  },
  body: noBody,
  namedResources: [pathRenameSource],
  permission: { letters: "cwm", resourceType: "o", posix: directoryChange, overwrite: true },
  target: "optional",
  conditions: "create",
  lease: "match-if-leased",
  policy: { content: "replace", generations: "current", pendingCopy: "reject", clientKey: "none" },
  etag: "keep",
  effect: "writes",
  success: { status: 201, headers: [continuationHeader] },
  reads: async (view, { scope, target, source: named }) => {
    const source = await loadSource(view, named);
    if (!source.ok) return { source };
    if (!isHierarchical(scope)) {
      return { source, flat: await readFlatRename(view, source.value, scope) };
    }
    return { source, tree: await readTreeRename(view, source.value, { scope, target }) };
  },
  decide: (context) => {
    const { source, flat, tree } = context.readResult;
    if (!source.ok) return source;
    const checked = checkSource(source.value, context.input, context.now);
    if (!checked.ok) return checked;
    if (flat !== undefined) return renameFlat(context, source.value, flat);
    if (tree === undefined) throw new Error("neither a flat rename nor one in a tree was read");
    return renameInTree(context, source.value, tree);
  },
});

/** What a rename in a tree depends on besides source and target. */
interface TreeRename {
  readonly replacedUpload: UploadRecord | undefined;
  /** Whether the destination does not exist, or is a file or an empty directory. */
  readonly isFree: boolean;
  /** Whether the source is a file with snapshots: keyed by its path, they would stay. */
  readonly hasSnapshots: boolean;
}

async function readTreeRename(
  view: RecordView,
  { scope: from, record }: RenameSource,
  { scope, target }: Pick<TreeRenameContext, "scope" | "target">,
): Promise<TreeRename> {
  const isFile = record !== undefined && record.directory === undefined;
  const kept = isFile ? await generationsOf(view, from.key) : [];
  return {
    replacedUpload: await view.get(uploads, blobKey({ scope })),
    isFree: target === undefined || (await isReplaceable(view, target)),
    hasSnapshots: kept.some(isLiveSnapshot),
  };
}

interface TreeRenameContext {
  readonly scope: ContainerScope;
  readonly address: BlobAddress;
  readonly target: BlobRecord | undefined;
  readonly input: {
    readonly properties: Metadata | undefined;
    readonly transactionId: string | undefined;
  };
  readonly now: Ticks;
  readonly newETag: Ticks;
}

function renameInTree(context: TreeRenameContext, source: RenameSource, found: TreeRename) {
  const { scope, target, input, now, address, newETag } = context;
  const { record, upload } = source;
  if (record === undefined) return fail("SourcePathNotFound");
  const from = source.scope.key;
  const placed = checkDestination({ scope, target, from, record, isFree: found.isFree, now });
  if (!placed.ok) return placed;
  if (found.hasSnapshots) return fail("SnapshotsPresent");
  const lease = target !== undefined && isLocked(target.lease, now) ? target.lease : record.lease;
  const { properties: given = record.metadata, transactionId: id } = input;
  const metadata = record.directory === undefined ? given : withFolderMark(given);
  const moved = movePath({
    from,
    to: scope.key,
    record: { ...record, lease, metadata, transactionId: id },
    upload,
    replacedUpload: found.replacedUpload,
  });
  // The upload of a replaced file is dropped by the move.
  const replaced = target && deletePath({ scope, address, target, newETag, upload: undefined });
  return {
    etag: record.etag,
    preserve: replaced?.preserve ?? [],
    effects: [...moved, ...(replaced?.effects ?? [])],
  };
}

/** Where a path is moved to. */
interface Destination {
  readonly scope: ContainerScope;
  readonly target: BlobRecord | undefined;
  readonly from: ContainerScope["key"];
  readonly record: BlobRecord;
  readonly isFree: boolean;
  readonly now: Ticks;
}

function checkDestination(destination: Destination): Result<undefined> {
  const { scope, target, from, record, isFree, now } = destination;
  if (scope.hasFileAsParent) return fail("PathConflict");
  if (scope.missingParents.length > 0) return fail("RenameDestinationParentPathNotFound");
  const { container, name } = scope.key;
  const isSame = from.container === container && from.name === name;
  const isBelow = isWithin({ directoryId }, record, scope.ancestors);
  if (isSame || isBelow || name === rootName) return fail("InvalidRenameSourcePath");
  if (target === undefined) return ok(undefined);
  const isOfKind = (record.directory === undefined) === (target.directory === undefined);
  if (!isOfKind) return fail("InvalidSourceOrDestinationResourceType");
  if (!isFree) return fail("PathAlreadyExists");
  const unprotected = checkProtection(target, now);
  return unprotected.ok ? ok(undefined) : unprotected;
}

function directoryId({ directory }: BlobRecord): bigint | undefined {
  return directory;
}
