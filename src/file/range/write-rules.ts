import type { Ticks } from "../../base/ticks.ts";
import { emptyContent, type ContentPlan, type ReceivedBody } from "../../content/content-ref.ts";
import { edit, resize, write } from "../../content/plan.ts";
import type { Span } from "../../protocol/ranges.ts";
import { fitsQuota } from "../shared/quota.ts";
import type { NodeRecord, ShareRecord } from "../records.ts";
import { clearEdits, withCleared } from "./clear-range.ts";

/** The times of a write. `preserve` leaves the last write time as it is; the change time always
 *  changes. */
export interface WriteTime {
  readonly newETag: Ticks;
  readonly lastWrite: "now" | "preserve" | undefined;
}

/** A file after a write: its record, without the new ETag, and the plan of its content. */
export interface WrittenFile {
  readonly next: NodeRecord;
  readonly content: ContentPlan;
}

/** A write of received bytes to a file. */
export interface RangeWrite extends WriteTime {
  readonly share: ShareRecord;
  readonly node: NodeRecord;
  /** Offset of the first byte. The file grows if the last byte lies beyond its end. */
  readonly at: number;
  readonly received: ReceivedBody;
  /** Bytes that all files of the share use. */
  readonly used: bigint;
  /** How many bytes of the range were written before (`coveredBytes`); they count against the quota
   *  already. */
  readonly covered: number;
}

/** The record and content of a file after Put Range or SMB WRITE. */
export function writeBytes(request: RangeWrite): WrittenFile | "disk-full" {
  const { share, node, at, received, used, covered } = request;
  const delta = received.length - covered;
  if (!fitsQuota(share, used, delta)) return "disk-full";
  const content = write(node.content ?? emptyContent, at, received);
  return { next: changedFile(node, request, delta), content };
}

/** A range of a file to clear. */
export interface RangeClear extends WriteTime, Pick<RangeWrite, "share" | "node" | "covered"> {
  readonly span: Span;
}

/** The record and content of a file after Put Range with `x-ms-write: clear` or SMB zeroing: whole
 *  sectors are freed, partial ones get zeros. */
export function clearBytes(request: RangeClear): WrittenFile {
  const { share, node, span, covered } = request;
  const { edits, written } = clearEdits(span);
  const content = edit(node.content ?? emptyContent, ...edits);
  const changed = changedFile(node, request, written - covered);
  return { next: { ...changed, cleared: withCleared(share, node, span) }, content };
}

/** The plan for content of a new length, truncated or extended by a hole. Undefined if it already
 *  has that length. */
export function resizeContent(
  { content = emptyContent }: NodeRecord,
  length: number,
): ContentPlan | undefined {
  return length === content.length ? undefined : resize(content, length);
}

/** The bytes that a new length truncates; empty if the file grows. */
export function cutSpan({ content = emptyContent }: NodeRecord, length: number): Span {
  const from = Math.min(length, content.length);
  return { from, length: content.length - from };
}

/** The record after a change of the content that allocates `delta` more bytes; negative if it frees
 *  bytes. */
export function changedFile(
  node: NodeRecord,
  { newETag, lastWrite: asked }: WriteTime,
  delta: number,
): NodeRecord {
  const lastWrite = asked === "preserve" ? node.lastWrite : newETag;
  return { ...node, lastWrite, change: newETag, allocated: (node.allocated ?? 0) + delta };
}
