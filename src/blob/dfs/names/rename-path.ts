import type { Ticks } from "../../../base/ticks.ts";
import type { CopySource, OwnSource } from "../../../operation/source.ts";
import type { RecordView } from "../../../operation/view.ts";
import { checkWrite, parseConditions, type Conditions } from "../../../protocol/conditions.ts";
import { parseLeaseId, checkLease, isLocked } from "../../../protocol/lease.ts";
import type { Param } from "../../../protocol/params.ts";
import { fail, ok, type Result } from "../../../protocol/result.ts";
import { checkProtection } from "../../protection/protection.ts";
import { uploads, blobs, type BlobRecord, type UploadRecord, type BlobKey } from "../../records.ts";
import {
  isHierarchical,
  resources,
  pathOperation,
  type BlobAddress,
  type ContainerScope,
} from "../../resources.ts";
import {
  blobKey,
  generationsOf,
  nextVersion,
  preservePrevious,
  type OverwriteContext,
} from "../../shared/overwrite.ts";
import { rootName, isWithin, checkNewPath } from "../../tree/find-path.ts";
import {
  hasBlobsBelow,
  dependentParent,
  kindOfName,
  parentKey,
  type DependentParent,
} from "../../shared/prefixes.ts";
import { directoryChange } from "../../../protocol/authorise.ts";
import type { Metadata } from "../../../protocol/metadata.ts";
import { pathRenameSource } from "../../../protocol/named-resource.ts";
import type { DecidedEvent } from "../../events.ts";
import { deletePath, movePath } from "../../tree/move-path.ts";
import { hasFolderMark, withFolderMark } from "../../tree/create-parents.ts";
import { isLiveSnapshot, preserveDeleted } from "../../write/delete-blob.ts";
import { continuation, continuationHeader, continuationOf } from "../continuation.ts";
import { isReplaceable } from "./delete-path.ts";
import { entryName, properties, sourceStart, transactionId } from "../params.ts";
import type { Effect } from "../../../operation/effects.ts";
import { checkBlobName } from "../../../protocol/names.ts";
import { checkEntry, keepParent, readEntries, type FlatEntry } from "./flat-directory.ts";
import { blobChange } from "../../blob-policy.ts";

/** Rename Path: moves a file or directory. On a hierarchical account it changes one key, whatever
 *  is below the directory; on a flat account it moves each blob, in portions. Hadoop commits its
 *  output with renames. */

const sourceConditions: Param<Conditions> = {
  sources: [
    "x-ms-source-if-match",
    "x-ms-source-if-none-match",
    "x-ms-source-if-modified-since",
    "x-ms-source-if-unmodified-since",
  ],
  parse: (reader) => parseConditions(reader, "source"),
};

const sourceLease: Param<string | undefined> = {
  sources: ["x-ms-source-lease-id"],
  parse: (reader) => parseLeaseId(reader, "x-ms-source-lease-id"),
};

/** The path to rename, as it was loaded. */
interface RenameSource {
  readonly address: BlobAddress;
  readonly scope: ContainerScope;
  /** Undefined if no record has this path. On a flat account the path may still be that of a
   *  directory. */
  readonly record: BlobRecord | undefined;
  readonly upload: UploadRecord | undefined;
}

/** Loads the source of a rename. The header with the source's path may be read in two ways, with
 *  and without the account name: the first is used unless only the other one exists. With
 *  `prefersAlternative` their order is reversed. A path that the caller may not access counts as
 *  absent, so that the response does not reveal it. */
async function loadSource(
  view: RecordView,
  source: CopySource | undefined,
  prefersAlternative: boolean,
): Promise<Result<RenameSource>> {
  if (source?.kind !== "same-service") return fail("InvalidSourceUri");
  const { alternative } = source;
  const [first, second] =
    alternative !== undefined && prefersAlternative ? [alternative, source] : [source, alternative];
  const loaded = await loadReading(view, first);
  if (second === undefined || (await isPresent(view, loaded))) return loaded;
  const other = await loadReading(view, second);
  return (await isPresent(view, other)) ? other : loaded;
}

async function loadReading(view: RecordView, source: OwnSource): Promise<Result<RenameSource>> {
  const address = source.address as BlobAddress;
  if (address.resource !== "blob") return fail("InvalidSourceUri");
  const loaded = await resources.blob.load(view, { account: source.account, address });
  const allowed = source.authorise(loaded.access);
  if (!allowed.ok) return allowed;
  if (!loaded.scope.ok) return fail("SourcePathNotFound");
  const record = loaded.target as BlobRecord | undefined;
  const scope = loaded.scope.value as ContainerScope;
  return ok({ address, scope, record, upload: await view.get(uploads, blobKey({ scope })) });
}

async function isPresent(view: RecordView, source: Result<RenameSource>): Promise<boolean> {
  if (!source.ok) return false;
  const { record, scope } = source.value;
  return record !== undefined || (!isHierarchical(scope) && hasBlobsBelow(view, scope.key));
}

interface SourceRequirements {
  readonly sourceConditions: Conditions;
  readonly sourceLease: string | undefined;
}

function checkSource(
  { scope, record }: RenameSource,
  requirements: SourceRequirements,
  now: Ticks,
): Result<void> {
  if (scope.key.name === rootName) return fail("InvalidRenameSourcePath");
  const { sourceLease: leaseId, sourceConditions: conditions } = requirements;
  const leased = checkLease(record?.lease, leaseId, "match-if-leased", "blob", now);
  if (!leased.ok) return leased;
  const present = record && { etag: record.etag };
  const failedCode = "SourceConditionNotMet";
  const met = checkWrite(conditions, present, { creates: false, failedCode });
  if (!met.ok || record === undefined) return met;
  return checkProtection(record, now);
}

/** A blob that a rename moves on a flat account, and the blob that it replaces at its new name. */
interface FlatMove extends FlatEntry {
  readonly to: BlobKey;
  readonly replaced: BlobRecord | undefined;
  readonly replacedUpload: UploadRecord | undefined;
}

/** What the decision of a rename on a flat account reads. */
interface FlatRename {
  /** The entries below the source that this request moves. */
  readonly moves: readonly FlatMove[];
  /** The name of the first entry that is left to the next request; undefined if none is. */
  readonly next: string | undefined;
  /** The source itself; undefined if no blob has its name. */
  readonly own: FlatMove | undefined;
  /** Whether the new name is a directory with entries, which a rename must not replace. */
  readonly isOccupied: boolean;
  /** The kind of the parent of the new name: a file, a directory, or neither. */
  readonly parent: Awaited<ReturnType<typeof kindOfName>>;
  /** The directory that the source is in, if it needs a blob to remain after the rename
   *  (`dependentParent`). */
  readonly left: DependentParent | undefined;
}

/** Reads what a rename on a flat account moves: the source itself and, if it is a directory, one
 *  portion of the entries below it. */
async function readFlatRename(
  view: RecordView,
  { scope: { key: from, ...rest }, record, upload }: RenameSource,
  { key: to }: ContainerScope,
): Promise<FlatRename> {
  const below = await readEntries(view, { key: from, ...rest }, record);
  const moves: FlatMove[] = [];
  for (const entry of below.entries) {
    const name = `${to.name}${entry.key.name.slice(from.name.length)}`;
    moves.push(await readMove(view, entry, { container: to.container, name }));
  }
  const kept = record === undefined ? [] : await generationsOf(view, from);
  const own = record && (await readMove(view, { key: from, record, upload, kept }, to));
  const parent = await kindOfName(view, parentKey(to));
  const isOccupied = await hasBlobsBelow(view, to);
  const left = await dependentParent(view, from);
  return { moves, next: below.next, own, isOccupied, parent, left };
}

async function readMove(view: RecordView, entry: FlatEntry, to: BlobKey): Promise<FlatMove> {
  const replaced = await view.get(blobs, to);
  return { ...entry, to, replaced, replacedUpload: await view.get(uploads, to) };
}

/** The parts of the decision context that a rename uses. */
interface RenameContext extends OverwriteContext {
  readonly input: {
    readonly properties: Metadata | undefined;
    readonly transactionId: string | undefined;
    /** The continuation token of an earlier request that has moved other entries of the directory;
     *  undefined for the first request. */
    readonly continuation: string | undefined;
  };
}

/** The effects that rename a file, or one portion of a directory, whose own blob is moved with the
 *  last portion. A moved blob is deleted under its old name as Delete Blob does: earlier versions
 *  and soft-deleted states stay there, and a blob with snapshots is not moved. */
function renameFlat(context: RenameContext, source: RenameSource, found: FlatRename) {
  const { moves, next, own } = found;
  if (own === undefined && moves.length === 0) return fail("SourcePathNotFound");
  const free = checkFlatDestination(context, source, found);
  if (!free.ok) return free;
  const last = next === undefined ? own : undefined;
  // The pipeline has checked the lease of the source already.
  const unleased = last && { ...last, record: { ...last.record, lease: undefined } };
  for (const move of unleased === undefined ? moves : [...moves, unleased]) {
    const checked = checkMove(move, context);
    if (!checked.ok) return checked;
  }
  const effects = moves.flatMap((move) => moveBlob(context, move, move.record));
  const isMarked = last !== undefined && hasFolderMark(last.record.metadata);
  const lastEffects =
    last && moveBlob(context, last, renamedRecord(context, last.record, isMarked));
  const kept = next === undefined ? keepParent(context, leftParent(context, found)) : [];
  return {
    event: eachMoved,
    ...(source.record && { etag: source.record.etag }),
    preserve: last === undefined ? [] : preservePrevious(context),
    effects: [...effects, ...(lastEffects ?? []), ...kept],
    headers: { [continuationHeader]: next === undefined ? undefined : continuationOf(next) },
  };
}

const eachMoved: DecidedEvent = { api: "CopyBlob", of: "each" };

/** The directory that loses its last path by the rename, and then gets a blob of its own
 *  (`keepParent`). Undefined if the path stays in that directory, or takes its name. */
function leftParent({ scope: { key } }: RenameContext, { left }: FlatRename) {
  const isSame = left?.key.container === key.container && isAtOrBelow(key.name, left.key.name);
  return isSame ? undefined : left;
}

function checkFlatDestination(
  { scope, target, input }: RenameContext,
  { scope: from, record }: RenameSource,
  { isOccupied, parent }: FlatRename,
): Result<void> {
  if (parent === "file") return fail("PathConflict");
  if (parent === "none") return fail("RenameDestinationParentPathNotFound");
  const { container, name } = scope.key;
  const isDirectory = record === undefined || hasFolderMark(record.metadata);
  const isInside = from.key.container === container && isAtOrBelow(name, from.key.name);
  if (name === rootName || (isInside && (isDirectory || name === from.key.name))) {
    return fail("InvalidRenameSourcePath");
  }
  if (target !== undefined && isDirectory !== hasFolderMark(target.metadata)) {
    return fail("InvalidSourceOrDestinationResourceType");
  }
  const isFree = !isDirectory || !isOccupied || input.continuation !== undefined;
  return isFree ? ok(undefined) : fail("PathAlreadyExists");
}

function isAtOrBelow(name: string, directory: string): boolean {
  return name === directory || name.startsWith(`${directory}/`);
}

function checkMove(move: FlatMove, context: RenameContext): Result<void> {
  const named = checkBlobName(move.to.name);
  if (!named.ok) return named;
  // Only the addressed blob may be replaced, because no other was checked for leases and
  // conditions.
  const isAddressed = move.to.name === context.scope.key.name;
  if (move.replaced !== undefined && !isAddressed) return fail("PathAlreadyExists");
  return checkEntry(move, context);
}

/** The record stored under the new name. A leased destination stays leased. */
function renamedRecord(
  { target, input, now }: RenameContext,
  record: BlobRecord,
  isDirectory: boolean,
): BlobRecord {
  const lease = target !== undefined && isLocked(target.lease, now) ? target.lease : record.lease;
  const { properties: given = record.metadata, transactionId: id } = input;
  const metadata = isDirectory ? withFolderMark(given) : given;
  return { ...record, lease, metadata, transactionId: id };
}

function moveBlob(
  context: RenameContext,
  { key: from, to, record, kept, upload, replacedUpload }: FlatMove,
  moved: BlobRecord,
): readonly Effect[] {
  const left = { ...context, scope: { ...context.scope, key: from }, target: record };
  return [
    // First, because otherwise the content would be without a reference in between and be freed.
    ...preserveDeleted(left, kept),
    ...movePath({
      from,
      to,
      record: { ...moved, versionId: nextVersion(context) },
      upload,
      replacedUpload,
    }),
  ];
}

/** Moves a file, or a directory with everything below it. On hierarchical accounts this is one
 *  commit of constant size, on flat accounts a series of portions (`renameFlat`). ETag and
 *  Last-Modified stay the same (recorded from Azure).
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/create */
export const renamePath = pathOperation({
  name: "Rename Path",
  ids: [],
  route: { method: "PUT", resource: "blob", headers: { "x-ms-rename-source": true } },
  params: {
    entryName,
    sourceStart,
    properties,
    sourceConditions,
    sourceLease,
    transactionId,
    continuation,
  },
  namedResources: [pathRenameSource],
  permission: { letters: "cwm", resourceType: "o", posix: directoryChange, overwrite: true },
  target: "optional",
  conditions: "create",
  // A repeated request reports that its source is missing, from which Hadoop concludes that the
  // first one succeeded.
  ifNoneMatchAny: "last",
  lease: "match-if-leased",
  policy: { ...blobChange.policy, content: "replace", clientKey: "none", event: "decided" },
  etag: "keep",
  status: 201,
  reads: async (view, { scope, target, source: named }) => {
    const source = await loadSource(view, named, scope.isAccountOmitted === true);
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

/** What the decision of a rename on a hierarchical account reads besides source and target. */
interface TreeRename {
  readonly replacedUpload: UploadRecord | undefined;
  /** Whether the rename may take the new path: nothing, a file or an empty directory has it. */
  readonly isFree: boolean;
  /** Whether the source is a file with blob snapshots. They are keyed by its path and would not be
   *  moved. */
  readonly hasSnapshots: boolean;
}

async function readTreeRename(
  view: RecordView,
  { scope: from, record }: RenameSource,
  { scope, target }: Pick<RenameContext, "scope" | "target">,
): Promise<TreeRename> {
  const isFile = record !== undefined && record.directory === undefined;
  const kept = isFile ? await generationsOf(view, from.key) : [];
  return {
    replacedUpload: await view.get(uploads, blobKey({ scope })),
    isFree: target === undefined || (await isReplaceable(view, target)),
    hasSnapshots: kept.some(isLiveSnapshot),
  };
}

function renameInTree(context: RenameContext, source: RenameSource, found: TreeRename) {
  const { scope, target, address, newETag } = context;
  const { record, upload } = source;
  if (record === undefined) return fail("SourcePathNotFound");
  const from = source.scope.key;
  const named = checkNewPath(address.blob);
  if (!named.ok) return named;
  const placed = checkDestination(context, from, record, found.isFree);
  if (!placed.ok) return placed;
  if (found.hasSnapshots) return fail("SnapshotsPresent");
  const isFile = record.directory === undefined;
  const moved = movePath({
    from,
    to: scope.key,
    record: renamedRecord(context, record, !isFile),
    upload,
    replacedUpload: found.replacedUpload,
  });
  // The upload of a replaced file is dropped by the move.
  const replaced = target && deletePath({ scope, address, target, newETag, upload: undefined });
  const event: DecidedEvent = {
    api: isFile ? "RenameFile" : "RenameDirectory",
    record,
    source: { container: source.address.container, path: source.address.blob },
  };
  return {
    event,
    etag: record.etag,
    preserve: replaced?.preserve ?? [],
    effects: [...moved, ...(replaced?.effects ?? [])],
  };
}

/** Fails if `record`, which is stored under the key `from`, must not be moved to the new path: if
 *  its parent is missing, it is occupied, or it is below the record itself. */
function checkDestination(
  { scope, target, now }: RenameContext,
  from: BlobKey,
  record: BlobRecord,
  isFree: boolean,
): Result<undefined> {
  if (scope.hasFileAsParent) return fail("PathConflict");
  if (scope.missingParents.length > 0) return fail("RenameDestinationParentPathNotFound");
  const { container, name } = scope.key;
  const isSame = from.container === container && from.name === name;
  const isBelow = isWithin(record, scope.ancestors);
  if (isSame || isBelow || name === rootName) return fail("InvalidRenameSourcePath");
  if (target === undefined) return ok(undefined);
  const isOfKind = (record.directory === undefined) === (target.directory === undefined);
  if (!isOfKind) return fail("InvalidSourceOrDestinationResourceType");
  if (!isFree) return fail("PathAlreadyExists");
  const unprotected = checkProtection(target, now);
  return unprotected.ok ? ok(undefined) : unprotected;
}
