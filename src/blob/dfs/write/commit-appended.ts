import {
  compose,
  edit,
  type ContentEdit,
  type ContentPart,
  type ContentPlan,
  type ContentRef,
} from "../../../content/content-ref.ts";
import { fail, ok, type Result } from "../../../protocol/result.ts";
import { mapAwaitable, type Awaitable } from "../../../base/awaitable.ts";
import { add, put, remove, type Effect } from "../../../operation/effects.ts";
import type { RecordView } from "../../../operation/view.ts";
import {
  committedBlocks,
  findUpload,
  piecesOf,
  type UploadLookup,
} from "../../block/read-blocks.ts";
import {
  blockCount,
  blocks,
  uploads,
  type BlobKey,
  type BlobRecord,
  type InlineAppend,
  type UploadRecord,
} from "../../records.ts";
import { dropCommitted, hasBlocks } from "../../shared/overwrite.ts";
import type { HttpHeaders } from "../../../protocol/metadata.ts";

/** Flushing: appended data, which `append-path.ts` stores as an upload, becomes content of the
 *  file. */

/** Data of one append to a file, at a position, that is not flushed yet. */
interface AppendedData {
  readonly id: string;
  /** Offset in the file, in bytes. */
  readonly position: number;
  readonly length: number;
  readonly part: ContentPart;
}

/** The id of the data of one append. Ids are ordered by position, then by time of arrival
 *  (`moment`): where data overlaps, the later one applies. */
export function appendedId(position: number, moment: bigint, unique: bigint): string {
  const hex = (value: bigint | number, digits: number) => value.toString(16).padStart(digits, "0");
  return `${hex(position, 12)}.${hex(moment, 16)}.${hex(unique, 16)}`;
}

/** The part of the id of appended data that orders appends by arrival. */
function momentOf({ id }: AppendedData): string {
  return id.slice(id.indexOf(".") + 1);
}

/** What a flush (commit of appended data) does to the content of a file. */
interface FlushPlan {
  /** Undefined if the content does not change. */
  readonly content: ContentPlan | undefined;
  /** The appended data that ends after the flushed length. */
  readonly beyond: readonly AppendedData[];
}

/** Plans a flush up to `length`: the current content, overwritten and continued by the appended
 *  data. Fails if this would leave a gap or shorten the file. */
function planFlush(
  current: ContentRef,
  appended: readonly AppendedData[],
  length: number,
): Result<FlushPlan> {
  if (length < current.length) return fail("InvalidFlushPosition");
  const beyond = appended.filter((data) => data.position + data.length > length);
  const used = appended.filter((data) => data.position < length);
  if (used.length === 0) {
    return length === current.length
      ? ok({ content: undefined, beyond })
      : fail("InvalidFlushPosition");
  }
  const byPosition = used.toSorted((a, b) => a.position - b.position);
  if (!isContiguous(byPosition, current.length, length)) return fail("InvalidFlushPosition");
  return ok({ content: contentOf(current, byPosition, length), beyond });
}

function isContiguous(byPosition: readonly AppendedData[], from: number, length: number): boolean {
  let end = from;
  for (const data of byPosition) {
    if (data.position > end) return false;
    end = Math.max(end, data.position + data.length);
  }
  return end >= length;
}

/** The content of a file after a flush. Data that continues the content without overlap, the usual
 *  case, becomes one edit, which is cheaper than one for each append. */
function contentOf(
  current: ContentRef,
  byPosition: readonly AppendedData[],
  length: number,
): ContentPlan {
  let end = current.length;
  const isSequence = byPosition.every((data) => {
    const follows = data.position === end;
    end += data.length;
    return follows;
  });
  if (isSequence && end === length) {
    const part = { pieces: byPosition.flatMap((data) => data.part.pieces) };
    if (current.length === 0) return compose([part]);
    return edit(current, { edit: "write", at: current.length, part });
  }
  const inOrder = byPosition.toSorted((a, b) => (momentOf(a) < momentOf(b) ? -1 : 1));
  const writes = inOrder.map(({ position: at, part }): ContentEdit => ({
    edit: "write",
    at,
    part,
  }));
  return edit(current, ...writes, { edit: "resize", length });
}

/** What a flush of a file reads: all data that was appended to it and is not flushed yet. */
interface Appended {
  readonly staged: UploadLookup;
  readonly data: readonly AppendedData[];
  /** Sum of the lengths of the appends in `blocks`; smaller ones are in the record of the
   *  upload. */
  readonly stagedBytes: number;
  /** Whether the Blob API wrote the present content (as committed blocks, or as a page or append
   *  blob): such a file cannot be flushed. */
  readonly isOfBlobApi: boolean;
}

/** Reads the data that a flush of a file can make its content, for `commitAppended`, in the
 *  transaction that flushes. */
export function readAppended(
  view: RecordView,
  { key, target }: { readonly key: BlobKey; readonly target: BlobRecord },
): Awaitable<Appended> {
  return mapAwaitable(findUpload(view, { key }), (staged) =>
    mapAwaitable(readData(view, staged.live), (found) =>
      mapAwaitable(isOfBlocks(view, target), (isOfBlobApi) => ({ staged, ...found, isOfBlobApi })),
    ),
  );
}

function readData(view: RecordView, upload: UploadRecord | undefined): Awaitable<FoundData> {
  const data = (upload?.inline ?? []).map(inlineData);
  const isInline = upload === undefined || !hasBlocks(upload);
  return isInline ? { data, stagedBytes: 0 } : readBlocks(view, upload, data);
}

type FoundData = Pick<Appended, "data" | "stagedBytes">;

/** Adds the appends of an upload in the table `blocks`, which were too large or too many for the
 *  record of the upload. */
async function readBlocks(
  view: RecordView,
  upload: UploadRecord,
  data: AppendedData[],
): Promise<FoundData> {
  let stagedBytes = 0;
  for await (const batch of view.scan(blocks, blocks.range([upload.id]))) {
    for (const { key, record } of batch) {
      const { content, position } = record;
      stagedBytes += content.length;
      if (position === undefined) continue;
      const id = blocks.parts(key)[1] as string;
      const part = { pieces: await piecesOf(view, content) };
      data.push({ id, position, length: content.length, part });
    }
  }
  return { data, stagedBytes };
}

function inlineData({ id, position, source }: InlineAppend): AppendedData {
  const { length } = source.bytes;
  return { id, position, length, part: { pieces: [{ length, source }] } };
}

function isOfBlocks(view: RecordView, target: BlobRecord): Awaitable<boolean> {
  if (target.writtenBy === "dfs") return false;
  return target.type !== "BlockBlob" || hasCommittedBlocks(view, target);
}

async function hasCommittedBlocks(view: RecordView, target: BlobRecord): Promise<boolean> {
  for await (const batch of committedBlocks(view, target.content)) return batch.length > 0;
  return false;
}

/** The input of `commitAppended`: a file, the data that was appended, and up to where to flush. */
interface Commit {
  readonly target: BlobRecord;
  readonly appended: Appended;
  /** Length of the file after the flush. */
  readonly length: number;
  /** Whether appended data after that length stays for a later flush (`retainUncommittedData`). */
  readonly keeps: boolean;
}

/** The changes that a flush makes. The operation copies the fields into the new record of the
 *  file. */
interface Committed {
  readonly headers: HttpHeaders;
  readonly content: { readonly content?: ContentPlan };
  readonly effects: readonly Effect[];
}

/** Plans the flush of Flush Data and of appends with `flush=true`: appended data becomes the
 *  content of its file, in one transaction. */
export function commitAppended(
  key: BlobKey,
  { target, appended, length, keeps }: Commit,
): Result<Committed> {
  const { staged, data, stagedBytes, isOfBlobApi: isWritten } = appended;
  if (target.directory !== undefined) return fail("PathConflict");
  const isOfBlobApi = isWritten || (staged.live?.blockIdLength ?? 0) > 0;
  if (isOfBlobApi) return fail("InvalidFlushOperation");
  const plan = planFlush(target.content, data, length);
  if (!plan.ok) return plan;
  const { content, beyond } = plan.value;
  const hasRest = keeps && beyond.length > 0 && staged.live !== undefined;
  const effects = hasRest
    ? removeCommitted(key, staged.live, data, beyond)
    : dropCommitted(key, staged, stagedBytes);
  if (content === undefined) return ok({ headers: target.headers, content: {}, effects });
  return ok({
    headers: { ...target.headers, contentMd5: undefined },
    content: { content },
    effects,
  });
}

/** The effects that remove flushed data from an upload; other data stays for a later flush. */
function removeCommitted(
  key: BlobKey,
  upload: UploadRecord,
  data: readonly AppendedData[],
  beyond: readonly AppendedData[],
): readonly Effect[] {
  const kept = new Set(beyond.map(({ id }) => id));
  const inline = new Set(upload.inline?.map(({ id }) => id));
  const committed = data.filter(({ id }) => !kept.has(id) && !inline.has(id));
  const removed = committed.map(({ id }) => remove(blocks, { upload: upload.id, id }));
  const counted =
    committed.length === 0 ? [] : [add(blockCount.key(upload.id), BigInt(-committed.length))];
  if (upload.inline === undefined) return [...removed, ...counted];
  const rest = upload.inline.filter(({ id }) => kept.has(id));
  return [put(uploads, key, { ...upload, inline: rest }), ...removed, ...counted];
}
