import type { Effect } from "../../operation/effects.ts";
import type { RecordView } from "../../operation/view.ts";
import { isLocked } from "../../protocol/lease.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { checkBlobName } from "../../protocol/names.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { blobs, uploads } from "../records.ts";
import type { BlobKey, BlobRecord, UploadRecord } from "../records.ts";
import type { ContainerScope } from "../resources.ts";
import { nextVersion, preservePrevious, type OverwriteContext } from "../shared/overwrite.ts";
import { generationsOf } from "../shared/soft-delete.ts";
import { hasFolderMark, withFolderMark } from "../tree/directory-record.ts";
import { rootName } from "../tree/find-path.ts";
import { movePath } from "../tree/move-path.ts";
import { preserveDeleted } from "../write/delete-blob.ts";
import { continuationHeader, continuationOf } from "./continuation.ts";
import { checkEntry, readEntries, type FlatEntry } from "./flat-directory.ts";
import type { RenameSource } from "./rename-source.ts";

/** A blob to move, and what has the name that it gets. */
interface FlatMove extends FlatEntry {
  readonly to: BlobKey;
  readonly replaced: BlobRecord | undefined;
  readonly replacedUpload: UploadRecord | undefined;
}

/** What a rename on a flat account depends on besides source and target. */
export interface FlatRename {
  /** The first entries below the source. */
  readonly moves: readonly FlatMove[];
  /** The name of the first entry that is left to the next request; undefined if none is. */
  readonly next: string | undefined;
  /** The source itself; undefined if no blob has its name. */
  readonly own: FlatMove | undefined;
  /** Whether blobs are below the new name. */
  readonly isOccupied: boolean;
}

/** Reads what a rename moves: the source itself and, if it is a directory, one portion of the
 *  entries below it. */
export async function readFlatRename(
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
  return { moves, next: below.next, own, isOccupied: await hasBlobsBelow(view, to) };
}

async function readMove(view: RecordView, entry: FlatEntry, to: BlobKey): Promise<FlatMove> {
  const replaced = await view.get(blobs, to);
  return { ...entry, to, replaced, replacedUpload: await view.get(uploads, to) };
}

async function hasBlobsBelow(view: RecordView, { container, name }: BlobKey): Promise<boolean> {
  const bounds = { ...blobs.range([container], `${name}/`), limit: 1 };
  for await (const batch of view.scan(blobs, bounds)) return batch.length > 0;
  return false;
}

/** The input of a rename on a flat account. */
interface FlatRenameContext extends OverwriteContext {
  readonly input: {
    readonly properties: Metadata | undefined;
    readonly transactionId: string | undefined;
    /** Set if an earlier request has moved other entries of the directory. */
    readonly continuation: string | undefined;
  };
}

/** Renames a file, or one portion of a directory, whose own blob is moved with the last portion. A
 *  moved blob is deleted under its old name as Delete Blob does: earlier versions and soft-deleted
 *  states stay there, and a blob with snapshots is not moved. */
export function renameFlat(context: FlatRenameContext, source: RenameSource, found: FlatRename) {
  const { moves, next, own } = found;
  if (own === undefined && moves.length === 0) return fail("SourcePathNotFound");
  const free = checkFlatDestination(context, source, found);
  if (!free.ok) return free;
  const last = next === undefined ? own : undefined;
  // The lease of the source itself was checked before.
  const unleased = last && { ...last, record: { ...last.record, lease: undefined } };
  for (const move of unleased === undefined ? moves : [...moves, unleased]) {
    const checked = checkMove(move, context);
    if (!checked.ok) return checked;
  }
  const effects = moves.flatMap((move) => moveBlob(context, move, move.record));
  const lastEffects = last && moveBlob(context, last, renamedRecord(context, last.record));
  return {
    ...(source.record && { etag: source.record.etag }),
    preserve: last === undefined ? [] : preservePrevious(context),
    effects: [...effects, ...(lastEffects ?? [])],
    headers: { [continuationHeader]: next === undefined ? undefined : continuationOf(next) },
  };
}

function checkFlatDestination(
  { scope, target, input }: FlatRenameContext,
  { scope: from, record }: RenameSource,
  { isOccupied }: FlatRename,
): Result<void> {
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

function checkMove(move: FlatMove, context: FlatRenameContext): Result<void> {
  const named = checkBlobName(move.to.name);
  if (!named.ok) return named;
  // Only the addressed blob may be replaced; its lease and conditions were checked.
  const isAddressed = move.to.name === context.scope.key.name;
  if (move.replaced !== undefined && !isAddressed) return fail("PathAlreadyExists");
  return checkEntry(move, context);
}

/** The record of the source under its new name. A leased destination stays leased. */
function renamedRecord({ target, input, now }: FlatRenameContext, record: BlobRecord): BlobRecord {
  const lease = target !== undefined && isLocked(target.lease, now) ? target.lease : record.lease;
  const { properties: given = record.metadata, transactionId } = input;
  const metadata = hasFolderMark(record.metadata) ? withFolderMark(given) : given;
  return { ...record, lease, metadata, transactionId };
}

function moveBlob(
  context: FlatRenameContext,
  { key: from, to, record, kept, upload, replacedUpload }: FlatMove,
  moved: BlobRecord,
): readonly Effect[] {
  const left = { ...context, scope: { ...context.scope, key: from }, target: record };
  return [
    // First, because the content must not be without a reference in between.
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
