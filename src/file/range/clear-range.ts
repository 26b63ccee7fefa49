import type { ContentEdit } from "../../content/content-ref.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { ClearedStretch, NodeRecord, ShareRecord } from "../records.ts";
import { sectorBytes } from "../shared/limits.ts";

export interface Clearing {
  readonly edits: readonly ContentEdit[];
  /** Bytes that are written as zeros and go on counting. */
  readonly written: number;
}

/** `bytes=100-2000` clears the sectors from 512 to 1535, and writes zeros before and behind. */
export function clearEdits({ from, length }: Span): Clearing {
  const end = from + length;
  const first = Math.ceil(from / sectorBytes) * sectorBytes;
  const last = Math.floor(end / sectorBytes) * sectorBytes;
  if (last <= first) return { edits: [zeros(from, length)], written: length };
  const edits: ContentEdit[] = [{ edit: "clear", at: first, length: last - first }];
  if (from < first) edits.push(zeros(from, first - from));
  if (last < end) edits.push(zeros(last, end - last));
  return { edits, written: length - (last - first) };
}

/** Older ones are forgotten: what they cleared still shows where it held something. */
const clearedMax = 256;

/** Told to those who ask what changed since a snapshot, even if nothing was there to clear. */
export function noteCleared(
  share: ShareRecord,
  { cleared = [] }: NodeRecord,
  { from, length }: Span,
): readonly ClearedStretch[] | undefined {
  if (share.newestSnapshot === 0) return undefined;
  return [...cleared, { from, to: from + length, epoch: share.epoch }].slice(-clearedMax);
}

/** At most two sectors, so that they fit into the record of the range. */
function zeros(at: number, length: number): ContentEdit {
  const pieces = [{ length, source: { bytes: new Uint8Array(length) } }];
  return { edit: "write", at, part: { pieces } };
}
