import type { Ticks } from "../../base/ticks.ts";
import { emptyContent, type ContentPlan, type ReceivedBody } from "../../content/content-ref.ts";
import { edit, resize, write } from "../../content/plan.ts";
import type { Span } from "../../protocol/ranges.ts";
import { fitsQuota } from "../shared/quota.ts";
import type { NodeRecord, ShareRecord } from "../records.ts";
import { clearEdits } from "./clear-range.ts";

/** `preserve` keeps the last write time. */
export interface WriteTime {
  readonly newETag: Ticks;
  readonly lastWrite: "now" | "preserve" | undefined;
}

export interface WrittenFile {
  readonly next: NodeRecord;
  readonly content: ContentPlan;
}

export interface RangeWrite extends WriteTime {
  readonly share: ShareRecord;
  readonly node: NodeRecord;
  /** Position of the first byte; the file grows if the last one lies behind its end. */
  readonly at: number;
  readonly received: ReceivedBody;
  /** Bytes that all files of the share hold. */
  readonly used: bigint;
  /** How many of the bytes in this range were written before: the quota counts each once. */
  readonly covered: number;
}

/** A file after bytes of it were written, by Put Range or SMB WRITE. */
export function writeBytes(request: RangeWrite): WrittenFile | "disk-full" {
  const { share, node, at, received, used, covered } = request;
  const delta = received.length - covered;
  if (!fitsQuota(share, used, delta)) return "disk-full";
  const content = write(node.content ?? emptyContent, at, received);
  return { next: changedFile(node, request, delta), content };
}

/** A file after bytes of it were cleared: whole sectors are freed, the rest becomes zeros. */
export function clearBytes(
  node: NodeRecord,
  { span, covered, ...time }: WriteTime & { readonly span: Span; readonly covered: number },
): WrittenFile {
  const { edits, written } = clearEdits(span);
  const content = edit(node.content ?? emptyContent, ...edits);
  return { next: changedFile(node, time, written - covered), content };
}

/** The content with a new length, longer by a hole or cut; undefined if it has that length. */
export function resizeContent(
  { content = emptyContent }: NodeRecord,
  length: number,
): ContentPlan | undefined {
  return length === content.length ? undefined : resize(content, length);
}

/** The bytes that a new length removes; empty if the file grows. */
export function cutSpan({ content = emptyContent }: NodeRecord, length: number): Span {
  const from = Math.min(length, content.length);
  return { from, length: content.length - from };
}

/** The record after its content changed and holds `delta` more bytes than before. */
export function changedFile(
  node: NodeRecord,
  { newETag, lastWrite: asked }: WriteTime,
  delta: number,
): NodeRecord {
  const lastWrite = asked === "preserve" ? node.lastWrite : newETag;
  return { ...node, lastWrite, change: newETag, allocated: (node.allocated ?? 0) + delta };
}
