import type { ContentPart, Slice, SliceSource } from "../content-ref.ts";
import type { LoopShare } from "../../base/loop-share.ts";
import { firstWhere } from "../../base/search.ts";
import { combineCrc64 } from "../body/checksums.ts";

/** Lists of slices (references to ranges of extents): finding, replacing, cutting and merging them,
 *  for the content of one record or of one leaf of a tree. All lists are ordered by `at` and do not
 *  overlap; there may be gaps. */

/** A half-open range of offsets in a content; `to` may be `Infinity`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Adjacent slices whose bytes are in the record are merged up to this length, so that small
 *  appends create few slices. */
const inlineSliceBytesMax = 256;

export function endOf(slice: Slice): number {
  return slice.at + slice.length;
}

/** Index of the first of the ordered slices that ends after `offset`. */
function firstEndingAfter(slices: readonly Slice[], offset: number): number {
  return firstWhere(slices, (slice) => endOf(slice) > offset);
}

/** The slices that overlap a span of the content; the list itself if all do. */
export function overlapping(slices: readonly Slice[], span: Span): readonly Slice[] {
  const first = firstEndingAfter(slices, span.from);
  let end = first;
  while (end < slices.length && (slices[end] as Slice).at < span.to) end += 1;
  return first === 0 && end === slices.length ? slices : slices.slice(first, end);
}

/** Edits a content: replaces its slices in `span` with `insert`, which must be inside it. Slices
 *  that are partly in the span are cut; one that contains the whole span is both `head` and
 *  `tail`. */
export function replaceSpan(
  slices: readonly Slice[],
  span: Span,
  insert: readonly Slice[],
): Slice[] {
  const first = firstEndingAfter(slices, span.from);
  const result = slices.slice(0, first);
  let next = first;
  const head = slices[first];
  if (head !== undefined && head.at < span.from) {
    result.push(trim(head, { from: head.at, to: span.from }));
    if (endOf(head) <= span.to) next += 1;
  }
  for (const slice of insert) pushMerged(result, slice);
  while (next < slices.length && endOf(slices[next] as Slice) <= span.to) next += 1;
  const tail = slices[next];
  if (tail !== undefined && tail.at < span.to) {
    pushMerged(result, trim(tail, { from: span.to, to: endOf(tail) }));
    next += 1;
  }
  const neighbour = slices[next];
  if (neighbour !== undefined) pushMerged(result, neighbour);
  for (let index = next + 1; index < slices.length; index += 1) result.push(slices[index] as Slice);
  return result;
}

/** Cuts a slice to a span inside it. If anything is cut off, the checksum no longer applies and is
 *  dropped; if the start is cut off, so is the block id, which marks the start of a block. */
export function trim(slice: Slice, { from, to }: Span): Slice {
  if (from === slice.at && to === endOf(slice)) return slice;
  const skipped = from - slice.at;
  const length = to - from;
  const cipher = cipherFrom(slice.source, skipped);
  const source: SliceSource =
    "bytes" in slice.source
      ? { bytes: slice.source.bytes.slice(skipped, skipped + length), ...cipher }
      : { extent: slice.source.extent, offset: slice.source.offset + skipped, ...cipher };
  const startsBlock = skipped === 0 && slice.block !== undefined;
  return startsBlock
    ? { at: from, length, source, block: slice.block }
    : { at: from, length, source };
}

/** The encryption of a slice without its first `skipped` bytes: the same nonce, at a later position
 *  of the key stream. */
export function cipherFrom({ cipher }: SliceSource, skipped: number): Pick<SliceSource, "cipher"> {
  return cipher === undefined ? {} : { cipher: { ...cipher, at: cipher.at + skipped } };
}

/** Appends a slice, merged with the last one if both are contiguous in one extent, or small and
 *  inline. A slice with a block id is never merged with the one before it: its start is the start
 *  of the block, which Get Block List must find again. */
export function pushMerged(slices: Slice[], slice: Slice): void {
  const last = slices.at(-1);
  const joined = last === undefined ? undefined : join(last, slice);
  if (joined === undefined) slices.push(slice);
  else slices[slices.length - 1] = joined;
}

function join(left: Slice, right: Slice): Slice | undefined {
  if (right.block !== undefined || endOf(left) !== right.at) return undefined;
  const source = joinSources(left, right);
  return source === undefined ? undefined : { ...left, length: left.length + right.length, source };
}

function joinSources(left: Slice, right: Slice): SliceSource | undefined {
  if (left.source.cipher !== undefined || right.source.cipher !== undefined) return undefined;
  if ("bytes" in left.source) {
    const length = left.length + right.length;
    if (!("bytes" in right.source) || length > inlineSliceBytesMax) return undefined;
    const bytes = new Uint8Array(length);
    bytes.set(left.source.bytes);
    bytes.set(right.source.bytes, left.length);
    return { bytes };
  }
  if ("bytes" in right.source) return undefined;
  const { extent, offset, crc64 } = left.source;
  if (right.source.extent !== extent || right.source.offset !== offset + left.length) {
    return undefined;
  }
  if (crc64 === undefined || right.source.crc64 === undefined) return { extent, offset };
  return { extent, offset, crc64: combineCrc64(crc64, right.source.crc64, right.length) };
}

/** Converts consecutive parts of new content (bodies or blocks) to slices, of which the first
 *  starts at offset `at`. */
export function slicesOfParts(parts: readonly ContentPart[], at: number): Slice[] {
  const slices: Slice[] = [];
  appendParts(slices, parts, at);
  return slices;
}

/** How many parts a step of `slicesOfManyParts` converts, and its cost in units of event-loop time
 *  (`base/loop-share.ts`). */
export const partsPerStepMax = 512;
const unitsPerStep = 128;

/** Does the same as `slicesOfParts` from offset 0 on, but yields to the event loop between steps: a
 *  block list may have 50,000 blocks. */
export async function slicesOfManyParts(
  loop: LoopShare,
  parts: readonly ContentPart[],
): Promise<Slice[]> {
  const slices: Slice[] = [];
  let next = 0;
  for (let from = 0; from < parts.length; from += partsPerStepMax) {
    await loop.spend(unitsPerStep);
    next = appendParts(slices, parts.slice(from, from + partsPerStepMax), next);
  }
  return slices;
}

/** Appends the slices of the parts, of which the first begins at offset `at`, and returns their end
 *  offset. */
function appendParts(slices: Slice[], parts: readonly ContentPart[], at: number): number {
  let next = at;
  for (const { pieces, block } of parts) {
    let startsBlock = block !== undefined;
    for (const { length, source } of pieces) {
      if (length === 0) continue;
      const slice = { at: next, length, source };
      pushMerged(slices, startsBlock ? { ...slice, block: block as string } : slice);
      startsBlock = false;
      next += length;
    }
  }
  return next;
}

/** How many bytes of each extent the slices refer to: by so much its live bytes change when they
 *  are added or removed. */
export function bytesByExtent(slices: readonly Slice[]): Map<bigint, number> {
  const bytes = new Map<bigint, number>();
  for (const { source, length } of slices) {
    if ("bytes" in source) continue;
    bytes.set(source.extent, (bytes.get(source.extent) ?? 0) + length);
  }
  return bytes;
}
