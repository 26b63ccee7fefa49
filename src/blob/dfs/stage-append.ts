import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import { whole } from "../../content/plan.ts";
import { emptyContent } from "../../content/content-ref.ts";
import type { BytesSource, ReceivedBody } from "../../content/content-ref.ts";
import { add, put, reclaim, reclaimAt, type Effect } from "../../operation/effects.ts";
import type { RecordView } from "../../operation/view.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import { openUpload, touchIntervalTicks } from "../block/stage-block.ts";
import { blockCounter, findUpload, uploadEnds, type UploadLookup } from "../block/read-blocks.ts";
import { blocks, uploads } from "../records.ts";
import type { BlobKey, BlobRecord, InlineAppend, UploadRecord } from "../records.ts";
import { hasBlocks } from "../shared/overwrite.ts";
import { appendedId } from "./appended-data.ts";
import type { AppendResult } from "./append-at-end.ts";

/** Appends that are not flushed yet, of one file. */
const appendsMax = 50_000;

/* Limits of this server for data in the record of an upload: each small append writes all of it. */
const inlineAppendsMax = 16;
const inlineAppendBytesMax = 8192;

/** The upload of a file, and its number of appends. */
export interface Appends {
  readonly staged: UploadLookup;
  /** Number of appends that are stored in records of their own. */
  readonly count: bigint;
}

/** Reads what an append depends on besides the file. */
export function readAppends(view: RecordView, key: BlobKey): Awaitable<Appends> {
  return mapAwaitable(findUpload(view, key), (staged) => {
    const { live } = staged;
    if (live === undefined || !hasBlocks(live)) return { staged, count: 0n };
    return mapAwaitable(view.count(blockCounter(live.id)), (count) => ({ staged, count }));
  });
}

/** Whether data may be appended to the file. Blocks of the Blob API and appended data cannot be
 *  combined. */
export function checkAppend(target: BlobRecord, { staged, count }: Appends): Result<undefined> {
  if (target.directory !== undefined) return fail("PathConflict");
  const isOfBlobApi = target.type !== "BlockBlob" || (staged.live?.blockIdLength ?? 0) > 0;
  if (isOfBlobApi) return fail("InvalidAppendOperation");
  return count >= BigInt(appendsMax) ? fail("BlockCountExceedsLimit") : ok(undefined);
}

/** An append to a file that is no append blob. */
export interface Append {
  readonly scope: { readonly key: BlobKey };
  readonly target: BlobRecord;
  readonly input: { readonly position: number };
  readonly received: ReceivedBody;
  readonly now: Ticks;
  readonly newETag: Ticks;
  readonly newId: () => bigint;
}

/** Keeps small data in the record of the upload: one write, and nothing to remove later. Other data
 *  is stored as blocks are, so that appends to one file do not wait for each other. */
export function stageAppend(append: Append, found: Appends): Result<AppendResult> {
  const checked = checkAppend(append.target, found);
  if (!checked.ok) return checked;
  const source = smallSource(append.received);
  const isSmall = source !== undefined && hasRoom(found.staged.live, source);
  const effects = isSmall ? stageInline(append, found, source) : stageBlock(append, found);
  return ok({ effects });
}

function smallSource({ pieces }: ReceivedBody): BytesSource | undefined {
  const source = pieces.length === 1 ? pieces[0]?.source : undefined;
  return source !== undefined && "bytes" in source ? source : undefined;
}

function hasRoom(live: UploadRecord | undefined, { bytes }: BytesSource): boolean {
  if (live === undefined) return true;
  const { inline } = live;
  if (inline === undefined || inline.length >= inlineAppendsMax) return false;
  const total = inline.reduce((sum, { source }) => sum + source.bytes.length, bytes.length);
  return total <= inlineAppendBytesMax;
}

function stageInline(append: Append, found: Appends, source: BytesSource): readonly Effect[] {
  const { scope, input, now, newETag, newId } = append;
  const { key } = scope;
  const { live, stored } = found.staged;
  const { position } = input;
  const added: InlineAppend = { id: appendedId(position, newETag, newId()), position, source };
  if (live !== undefined) {
    return changeUpload(key, live, { inline: [...(live.inline ?? []), added] }, now).effects;
  }
  const upload: UploadRecord = { id: newId(), blockIdLength: 0, touched: now, inline: [added] };
  const opened = [put(uploads, key, upload), expiry(key, upload)];
  return stored === undefined ? opened : [...opened, reclaim("blob-blocks", stored.id)];
}

/** One job for all uploads that are opened in a directory in an hour: a job for each would remain
 *  for a week after the upload is committed. */
function expiry({ container }: BlobKey, upload: UploadRecord): Effect {
  const due = (uploadEnds(upload) / touchIntervalTicks + 1n) * touchIntervalTicks;
  return reclaimAt(due, "blob-uploads", container, "");
}

function stageBlock(append: Append, found: Appends): readonly Effect[] {
  const { scope, target, input, received, now, newETag, newId } = append;
  const { live } = found.staged;
  const opened =
    live?.inline === undefined
      ? openUpload(scope.key, found.staged, { now, newId, blockIdLength: 0 })
      : openBesideInline(scope.key, live, now);
  const id = appendedId(input.position, newETag, newId());
  const { keySha256 } = target;
  const record = { content: emptyContent, keySha256, position: input.position };
  const block = put(blocks, { upload: opened.upload.id, id }, record, whole(received));
  return [...opened.effects, block, add(blockCounter(opened.upload.id), 1n)];
}

/** The upload that data is added to, and the effects that write its record. */
interface OpenedUpload {
  readonly upload: UploadRecord;
  readonly effects: readonly Effect[];
}

/** Does the same as `openUpload` for an upload with inline data, and marks it as having blocks. */
function openBesideInline(key: BlobKey, live: UploadRecord, now: Ticks): OpenedUpload {
  if (live.hasBlocks === true && !isStale(live, now)) return { upload: live, effects: [] };
  return changeUpload(key, live, { hasBlocks: true }, now);
}

/** Whether the upload was used so long ago that its time of expiry is due to be moved. */
function isStale({ touched }: UploadRecord, now: Ticks): boolean {
  return now - touched > touchIntervalTicks;
}

/** Changes an upload, and moves its time of expiry if it was not used for long. */
function changeUpload(
  key: BlobKey,
  live: UploadRecord,
  change: Pick<UploadRecord, "inline" | "hasBlocks">,
  now: Ticks,
): OpenedUpload {
  if (!isStale(live, now)) {
    const upload = { ...live, ...change };
    return { upload, effects: [put(uploads, key, upload)] };
  }
  const upload = { ...live, ...change, touched: now };
  return { upload, effects: [put(uploads, key, upload), expiry(key, upload)] };
}
