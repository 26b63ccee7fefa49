import type { ContentStore } from "../../content/content.ts";
import type { ContentRef, Slice } from "../../content/content-ref.ts";
import { cipherFrom, endOf } from "../../content/tree/slices.ts";
import type { View } from "../../store/store.ts";
import type { ContentPiece, MoreContentFrame } from "./archive-format.ts";

/** Reads the content of blobs and files for an export (`record-exporter.ts`), as pieces of archive
 *  frames, the units of an archive (`archive-format.ts`). */

/** Most bytes and pieces of one frame, which is in memory as a whole. */
const frameBytesMax = 4 * 1024 * 1024;
const framePiecesMax = 512;

/** Yields the frames of content that is stored outside of its record: at least one, the last with
 *  `isLast`. With `base` they have only the changes against that content. */
export async function* piecesOf(
  view: View,
  content: ContentStore,
  { ref, base }: { readonly ref: ContentRef; readonly base: ContentRef | undefined },
): AsyncGenerator<MoreContentFrame> {
  const slices = content.slices(view, ref, 0, ref.length);
  const segments =
    base === undefined
      ? allSegments(slices)
      : changedSegments(slices, content.slices(view, base, 0, Math.min(ref.length, base.length)));
  const frame = new FrameBuilder();
  for await (const { at, length, slice } of segments) {
    if (slice === undefined) frame.add({ at, length, isHole: true });
    else {
      for (let from = at - slice.at; from < at - slice.at + length;) {
        const count = Math.min(at - slice.at + length - from, frameBytesMax - frame.bytes);
        frame.add(pieceOf(slice, from, count));
        for await (const chunk of storedBytes(view, content, slice, from, count)) {
          frame.addBytes(chunk);
        }
        from += count;
        if (frame.isFull) yield frame.finish(false);
      }
    }
    if (frame.isFull) yield frame.finish(false);
  }
  yield frame.finish(true);
}

/** Collects pieces until they fill a frame. */
class FrameBuilder {
  #pieces: ContentPiece[] = [];
  #chunks: Uint8Array[] = [];
  bytes = 0;

  get isFull(): boolean {
    return this.bytes >= frameBytesMax || this.#pieces.length >= framePiecesMax;
  }

  add(piece: ContentPiece): void {
    this.#pieces.push(piece);
  }

  /** Copies the chunk, whose buffer is reused for the next one. */
  addBytes(chunk: Uint8Array): void {
    this.#chunks.push(new Uint8Array(chunk));
    this.bytes += chunk.length;
  }

  finish(isLast: boolean): MoreContentFrame {
    const bytes = Buffer.concat(this.#chunks, this.bytes);
    const frame = { pieces: this.#pieces, bytes, isLast };
    this.#pieces = [];
    this.#chunks = [];
    this.bytes = 0;
    return frame;
  }
}

function pieceOf({ at, source, block }: Slice, from: number, length: number): ContentPiece {
  // Content of an encryption scope is archived without that encryption, because its key is that of
  // this store; the load encrypts it with a key of its own store.
  const cipher = source.cipher?.scope === undefined ? cipherFrom(source, from) : undefined;
  return { at: at + from, length, ...cipher, ...(from === 0 && { block }) };
}

/** Yields the bytes of a part of a slice; those that the key of a client encrypts stay so. */
async function* storedBytes(
  view: View,
  content: ContentStore,
  slice: Slice,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  const { source } = slice;
  const isScoped = source.cipher?.scope !== undefined;
  if ("bytes" in source && !isScoped) {
    yield source.bytes.subarray(from, from + length);
    return;
  }
  const { cipher: _, ...stored } = source;
  const opened = isScoped ? source : stored;
  const slices = [{ at: 0, length: slice.length, source: opened }];
  const reader = content.open(view, { kind: "slices", length: slice.length, slices });
  try {
    yield* reader.read(from, length);
  } finally {
    reader.close();
  }
}

/** Whether two contents are the same stored bytes, as after a copy, and not just equal ones. */
export function isSameContent(one: ContentRef, other: ContentRef): boolean {
  if (one.length !== other.length) return false;
  if (one.kind === "tree") return other.kind === "tree" && one.root === other.root;
  if (one.kind === "inline" || other.kind !== "slices") return false;
  return (
    one.slices.length === other.slices.length &&
    one.slices.every((slice, index) => isSameSlice(slice, other.slices[index]))
  );
}

function isSameSlice(one: Slice, other: Slice | undefined): boolean {
  if (other === undefined || one.at !== other.at || one.length !== other.length) return false;
  if (one.block !== other.block || !("extent" in one.source)) return false;
  const { extent, offset } = one.source;
  return (
    "extent" in other.source && extent === other.source.extent && offset === other.source.offset
  );
}

/** A range of content that an archive contains: a part of a slice, or a hole if `slice` is
 *  undefined. */
interface Segment {
  readonly at: number;
  readonly length: number;
  readonly slice: Slice | undefined;
}

type Slices = AsyncIterable<readonly Slice[]>;

async function* allSegments(slices: Slices): AsyncGenerator<Segment> {
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

/** The next offset after `at` at which the slice begins or ends; `Infinity` without a slice. */
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

/** Whether the bytes of both slices are encrypted with the same part of the same key stream.
 *  `shift` is how far the other slice is behind at the same offset of the content. */
function isSameCipher({ source: { cipher } }: Slice, other: Slice, shift: number): boolean {
  const { cipher: otherCipher } = other.source;
  if (cipher === undefined || otherCipher === undefined) return cipher === otherCipher;
  if (cipher.scope !== otherCipher.scope) return false;
  return cipher.nonce === otherCipher.nonce && cipher.at === otherCipher.at + shift;
}

/** Finds the slices of a content one after the other: offsets must increase from call to call. */
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
