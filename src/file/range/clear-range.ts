import type { ContentEdit } from "../../content/content-ref.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { ClearedRange, NodeRecord, ShareRecord } from "../records.ts";
import { sectorBytes } from "../shared/limits.ts";

export interface Clearing {
  readonly edits: readonly ContentEdit[];
  /** Bytes that are written as zeros, which still count against the quota. */
  readonly written: number;
}

/** `bytes=100-2000` clears the sectors from 512 to 1535 and writes zeros before and after. */
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

/** Bound of the list. Of dropped ranges, the parts that held bytes still show as changed. */
const clearedMax = 256;

/** The cleared ranges of a file for List Ranges with `prevsharesnapshot`, which also reports
 *  those that held no bytes. */
export function withCleared(
  share: ShareRecord,
  { cleared = [] }: NodeRecord,
  { from, length }: Span,
): readonly ClearedRange[] | undefined {
  if (share.newestSnapshot === 0) return undefined;
  return [...cleared, { from, to: from + length, epoch: share.epoch }].slice(-clearedMax);
}

/** At most two sectors, so that they fit into the record. */
function zeros(at: number, length: number): ContentEdit {
  const pieces = [{ length, source: { bytes: new Uint8Array(length) } }];
  return { edit: "write", at, part: { pieces } };
}
