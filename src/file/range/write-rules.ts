import type { Ticks } from "../../base/ticks.ts";
import {
  emptyContent,
  edit,
  resize,
  write,
  type ContentEdit,
  type ContentPlan,
  type ReceivedBody,
} from "../../content/content-ref.ts";
import type { RecordView } from "../../operation/view.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { ClearedRange, NodeRecord, ShareRecord } from "../records.ts";
import { sectorBytes } from "../shared/limits.ts";

/** Rules of writes that Put Range and the SMB operations (`file/filesystem/write.ts`) share: the
 *  record and the content of a file after a write, and what counts against quotas. */

/** How many bytes of a span were written and not cleared. A write subtracts them from the bytes
 *  that it adds, so that the quota counts no byte twice. */
export async function coveredBytes(
  view: RecordView,
  { content = emptyContent }: NodeRecord,
  { from, length }: Span,
): Promise<number> {
  if (length <= 0) return 0;
  let covered = 0;
  for await (const slices of view.slices(content, from, length)) {
    for (const slice of slices) {
      const start = Math.max(slice.at, from);
      const end = Math.min(slice.at + slice.length, from + length);
      covered += Math.max(0, end - start);
    }
  }
  return covered;
}

/** Which times a write sets. `preserve` leaves the last write time as it is; the change time always
 *  becomes that of the new ETag. */
export interface WriteTime {
  readonly newETag: Ticks;
  readonly lastWrite: "now" | "preserve" | undefined;
}

/** A file after a write: its record, without the new ETag, and the plan of its content. */
export interface WrittenFile {
  readonly next: NodeRecord;
  readonly content: ContentPlan;
}

interface RangeWrite extends WriteTime {
  readonly node: NodeRecord;
  /** Offset of the first byte. The file grows if the last byte lies beyond its end. */
  readonly at: number;
  readonly received: ReceivedBody;
  /** How many bytes of the range were written before (`coveredBytes`); they are allocated
   *  already. */
  readonly covered: number;
}

/** The record and content of a file after Put Range or SMB WRITE. */
export function writeBytes(request: RangeWrite): WrittenFile {
  const { node, at, received, covered } = request;
  const { content: present = emptyContent } = node;
  const length = Math.max(present.length, at + received.length);
  const change = { length, allocated: received.length - covered };
  return {
    next: changedFile(node, request, change),
    content: write(present, at, received),
  };
}

/** The input of `clearBytes`: a range of a file to clear. */
interface RangeClear extends WriteTime, Pick<RangeWrite, "node" | "covered"> {
  readonly share: ShareRecord;
  readonly span: Span;
}

/** The record and content of a file after Put Range with `x-ms-write: clear` or SMB zeroing: whole
 *  sectors are freed, partial ones get zeros. */
export function clearBytes(request: RangeClear): WrittenFile {
  const { share, node, span, covered } = request;
  const { edits, written } = clearEdits(span);
  const { content: present = emptyContent } = node;
  const content = edit(present, ...edits);
  const change = { length: present.length, allocated: written - covered };
  const changed = changedFile(node, request, change);
  return { next: { ...changed, cleared: withCleared(share, node, span) }, content };
}

/** Truncates the content, or extends it by a hole. Undefined if it has that length already. */
export function resizeContent(
  { content = emptyContent }: NodeRecord,
  length: number,
): ContentPlan | undefined {
  return length === content.length ? undefined : resize(content, length);
}

/** The part of a span that lies inside a file: zeroing does not make a file longer. */
export function spanInside({ content = emptyContent }: NodeRecord, { from, length }: Span): Span {
  return { from, length: Math.max(0, Math.min(length, content.length - from)) };
}

/** The bytes that a new length cuts off, for the quota; empty if the file grows. */
export function cutSpan({ content = emptyContent }: NodeRecord, length: number): Span {
  const from = Math.min(length, content.length);
  return { from, length: content.length - from };
}

interface ContentChange {
  readonly length: number;
  /** Change of the stored bytes, for the quota of the account; negative if bytes are freed. */
  readonly allocated: number;
}

/** The record of a file after a change of its content: its times and counted bytes. */
export function changedFile(
  node: NodeRecord,
  { newETag, lastWrite: requested }: WriteTime,
  { length, allocated }: ContentChange,
): NodeRecord {
  const lastWrite = requested === "preserve" ? node.lastWrite : newETag;
  return {
    ...node,
    lastWrite,
    change: newETag,
    allocated: (node.allocated ?? 0) + allocated,
    counted: length,
  };
}

/** The edits of the stored content that clear a range. */
interface ClearEdits {
  readonly edits: readonly ContentEdit[];
  /** Bytes that are stored as zeros, which count against the quota. */
  readonly written: number;
}

/** Clears whole sectors and writes zeros into partial ones. For example, `bytes=100-2000` clears
 *  the sectors from 512 to 1535, and writes zeros from 100 to 511 and from 1536 to 2000. */
function clearEdits({ from, length }: Span): ClearEdits {
  const end = from + length;
  const first = Math.ceil(from / sectorBytes) * sectorBytes;
  const last = Math.floor(end / sectorBytes) * sectorBytes;
  if (last <= first) return { edits: [zeros(from, length)], written: length };
  const edits: ContentEdit[] = [{ edit: "clear", at: first, length: last - first }];
  if (from < first) edits.push(zeros(from, first - from));
  if (last < end) edits.push(zeros(last, end - last));
  return { edits, written: length - (last - first) };
}

/** Most cleared ranges in a file record, so that the record stays small. Of ranges that are dropped
 *  from the list, List Ranges still reports the parts that had bytes. */
const clearedMax = 256;

/** The list of cleared ranges in a file record, with one more. List Ranges with `prevsharesnapshot`
 *  reports them even if they had no bytes. Undefined if the share has no snapshot. */
function withCleared(
  share: ShareRecord,
  { cleared = [] }: NodeRecord,
  { from, length }: Span,
): readonly ClearedRange[] | undefined {
  if (share.newestSnapshot === 0) return undefined;
  return [...cleared, { from, to: from + length, epoch: share.epoch }].slice(-clearedMax);
}

/** A write of zeros. It is shorter than two sectors, so it is stored inline. */
function zeros(at: number, length: number): ContentEdit {
  const pieces = [{ length, source: { bytes: new Uint8Array(length) } }];
  return { edit: "write", at, part: { pieces } };
}
