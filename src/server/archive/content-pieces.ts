import type { ContentStore } from "../../content/content.ts";
import type { ContentRef, Slice, SliceSource } from "../../content/content-ref.ts";
import { cipherFrom } from "../../content/slices.ts";
import type { View } from "../../store/store.ts";
import type { ContentPiece, MoreContentFrame } from "./archive-format.ts";
import { allSegments, changedSegments } from "./content-segments.ts";

/** Bytes of contents in one frame. */
const frameBytesMax = 4 * 1024 * 1024;
const framePiecesMax = 512;

/** The frames of content outside of its record: at least one, the last with `isLast`. With `base`
 *  they have only the changes against it. */
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
  return { at: at + from, length, ...cipherFrom(source, from), ...(from === 0 && { block }) };
}

/** The bytes as they are stored: encrypted ones stay encrypted. */
async function* storedBytes(
  view: View,
  content: ContentStore,
  { source }: Slice,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  if ("bytes" in source) {
    yield source.bytes.subarray(from, from + length);
    return;
  }
  const plain: SliceSource = { extent: source.extent, offset: source.offset + from };
  const slices = [{ at: 0, length, source: plain }];
  const reader = content.open(view, { kind: "slices", length, slices });
  try {
    yield* reader.read(0, length);
  } finally {
    reader.close();
  }
}

/** Whether two contents are the same stored bytes. Equal bytes that are stored twice differ. */
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
