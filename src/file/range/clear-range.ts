import type { ContentEdit } from "../../content/content-ref.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { ClearedRange, NodeRecord, ShareRecord } from "../records.ts";
import { sectorBytes } from "../shared/limits.ts";

/** The edits of the content that clear a range. */
export interface ClearEdits {
  readonly edits: readonly ContentEdit[];
  /** Bytes that are stored as zeros, which count against the quota. */
  readonly written: number;
}

/** Clears whole sectors and writes zeros into partial ones. For example, `bytes=100-2000` clears
 *  the sectors from 512 to 1535, and writes zeros from 100 to 511 and from 1536 to 2000. */
export function clearEdits({ from, length }: Span): ClearEdits {
  const end = from + length;
  const first = Math.ceil(from / sectorBytes) * sectorBytes;
  const last = Math.floor(end / sectorBytes) * sectorBytes;
  if (last <= first) return { edits: [zeros(from, length)], written: length };
  const edits: ContentEdit[] = [{ edit: "clear", at: first, length: last - first }];
  if (from < first) edits.push(zeros(from, first - from));
  if (last < end) edits.push(zeros(last, end - last));
  return { edits, written: length - (last - first) };
}

/** Length of the list in a file record. Of ranges that are dropped from the list, List Ranges still
 *  reports the parts that had bytes. */
const clearedMax = 256;

/** The cleared ranges of a file with one more. List Ranges with `prevsharesnapshot` reports them
 *  even if they had no bytes. Undefined if the share has no snapshot. */
export function withCleared(
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
