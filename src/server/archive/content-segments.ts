import type { Slice } from "../../content/content-ref.ts";
import { endOf } from "../../content/slices.ts";

/** A range of content that an archive contains: a part of a slice, or a hole if `slice` is
 *  undefined. */
export interface Segment {
  readonly at: number;
  readonly length: number;
  readonly slice: Slice | undefined;
}

type Slices = AsyncIterable<readonly Slice[]>;

/** All slices of content. */
export async function* allSegments(slices: Slices): AsyncGenerator<Segment> {
  for await (const some of slices) {
    for (const slice of some) yield { at: slice.at, length: slice.length, slice };
  }
}

/** The ranges in which content differs from `base`, in order. Ranges with the same stored bytes are
 *  left out; a hole is returned only where the base has bytes. */
export async function* changedSegments(slices: Slices, base: Slices): AsyncGenerator<Segment> {
  const [next, before] = [new SliceCursor(slices), new SliceCursor(base)];
  let open: Segment | undefined;
  let at = 0;
  for (;;) {
    const [slice, old] = [await next.sliceAt(at), await before.sliceAt(at)];
    const end = Math.min(boundaryAfter(slice, at), boundaryAfter(old, at));
    if (end === Infinity) break;
    const found = changeAt(slice, old, { at, end });
    if (open !== undefined && found !== undefined && isFollowedBy(open, found)) {
      open = { ...open, length: open.length + found.length };
    } else {
      if (open !== undefined) yield open;
      open = found;
    }
    at = end;
  }
  if (open !== undefined) yield open;
}

interface Span {
  readonly at: number;
  readonly end: number;
}

function changeAt(
  slice: Slice | undefined,
  old: Slice | undefined,
  { at, end }: Span,
): Segment | undefined {
  const length = end - at;
  if (slice !== undefined && slice.at <= at) {
    const isSame = old !== undefined && old.at <= at && isSameRange(slice, old, { at, end });
    return isSame ? undefined : { at, length, slice };
  }
  return old !== undefined && old.at <= at ? { at, length, slice: undefined } : undefined;
}

function isFollowedBy(one: Segment, other: Segment): boolean {
  return one.slice === other.slice && one.at + one.length === other.at;
}

/** Where the next slice begins, or this one ends; `Infinity` without a slice. */
function boundaryAfter(slice: Slice | undefined, at: number): number {
  if (slice === undefined) return Infinity;
  return slice.at > at ? slice.at : endOf(slice);
}

/** Whether both slices have the same stored bytes in a range, and the same block begins there. */
function isSameRange(one: Slice, other: Slice, { at, end }: Span): boolean {
  const [from, otherFrom] = [at - one.at, at - other.at];
  const block = from === 0 ? one.block : undefined;
  const otherBlock = otherFrom === 0 ? other.block : undefined;
  if (block !== otherBlock || !isSameCipher(one, other, otherFrom - from)) return false;
  const [source, otherSource] = [one.source, other.source];
  if ("bytes" in source) {
    if (!("bytes" in otherSource)) return false;
    const own = source.bytes.subarray(from, from + end - at);
    return Buffer.compare(own, otherSource.bytes.subarray(otherFrom, otherFrom + end - at)) === 0;
  }
  if (!("extent" in otherSource) || source.extent !== otherSource.extent) return false;
  return source.offset + from === otherSource.offset + otherFrom;
}

/** `shift`: how much later the other slice is in its cipher stream at the same offset. */
function isSameCipher({ source: { cipher } }: Slice, other: Slice, shift: number): boolean {
  const { cipher: otherCipher } = other.source;
  if (cipher === undefined || otherCipher === undefined) return cipher === otherCipher;
  return cipher.nonce === otherCipher.nonce && cipher.at === otherCipher.at + shift;
}

/** Finds the slice at increasing offsets. */
class SliceCursor {
  readonly #pages: AsyncIterator<readonly Slice[]>;
  #page: readonly Slice[] = [];
  #index = 0;

  constructor(slices: Slices) {
    this.#pages = slices[Symbol.asyncIterator]();
  }

  /** The first slice that ends after `at`; undefined after the last one. */
  async sliceAt(at: number): Promise<Slice | undefined> {
    for (;;) {
      const slice = this.#page[this.#index];
      if (slice === undefined) {
        const { done, value } = await this.#pages.next();
        if (done === true) return undefined;
        this.#page = value;
        this.#index = 0;
      } else if (endOf(slice) > at) return slice;
      else this.#index += 1;
    }
  }
}
