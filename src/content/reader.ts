import type { ContentRef, Slice, SliceSource } from "./content-ref.ts";
import { readChunkBytes, type Buffers } from "./buffers.ts";
import type { ContentReader } from "./content.ts";
import type { ExtentFileCache } from "./extent-file-cache.ts";
import { walk, type NodeSource } from "./tree-walk.ts";
import { decryptAt } from "./cipher.ts";
import { cipherFrom, type Span } from "./slices.ts";

/** Small slices of one chunk are read side by side, at most this many. */
const readsAtOnceMax = 32;

export interface ReaderParts {
  readonly handles: ExtentFileCache;
  readonly buffers: Buffers;
  readonly nodes: NodeSource;
  readonly unpin: () => void;
  /** Bytes lie on another machine, which may be away. */
  readonly isRemote: boolean;
  /** For slices that are encrypted. */
  readonly key?: Uint8Array | undefined;
}

export function contentReader(ref: ContentRef, parts: ReaderParts): ContentReader {
  const read = (from: number, length: number) =>
    readChunks(ref, parts, spanWithin(ref, from, length));
  const reader = { length: ref.length, read, close: parts.unpin };
  if (!parts.isRemote || ref.kind === "inline") return reader;
  // As much as the first chunk of an answer: it is at hand then.
  const reach = async (from: number, length: number): Promise<void> => {
    const first = read(from, Math.min(length, readChunkBytes));
    await first.next();
    await first.return();
  };
  return { ...reader, reach };
}

function spanWithin(ref: ContentRef, from: number, length: number): Span {
  const to = Math.min(ref.length, from + length);
  return { from: Math.min(from, to), to };
}

/** Bytes of one source, or zeros without one. */
interface Segment {
  readonly length: number;
  readonly source: SliceSource | undefined;
}

async function* readChunks(
  ref: ContentRef,
  parts: ReaderParts,
  span: Span,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (ref.kind === "inline") {
    if (span.to > span.from) yield ref.bytes.subarray(span.from, span.to);
    return;
  }
  const { buffers } = parts;
  let left = span.to - span.from;
  if (left === 0) return;
  const buffer = buffers.take(Math.min(left, readChunkBytes));
  const filler = new ChunkFiller(buffer, parts);
  try {
    for await (const segment of segments(parts.nodes, ref, span)) {
      for (let from = 0; from < segment.length;) {
        from += await filler.add(segment, from);
        if (!filler.isFull) continue;
        left -= buffer.length;
        yield await filler.finish();
      }
    }
    if (left > 0) yield await filler.finish();
  } finally {
    await filler.drain();
    buffers.giveBack(buffer);
  }
}

/** Fills one buffer with stretches of segments, reading several at once. */
class ChunkFiller {
  readonly #buffer: Uint8Array;
  readonly #handles: ExtentFileCache;
  readonly #key: Uint8Array | undefined;
  #reads: Promise<void>[] = [];
  #filled = 0;

  constructor(buffer: Uint8Array, { handles, key }: ReaderParts) {
    this.#buffer = buffer;
    this.#handles = handles;
    this.#key = key;
  }

  get isFull(): boolean {
    return this.#filled === this.#buffer.length;
  }

  /** Takes what fits of a segment from `from` on, and says how much that was. */
  async add({ length, source }: Segment, from: number): Promise<number> {
    const count = Math.min(length - from, this.#buffer.length - this.#filled);
    const target = this.#buffer.subarray(this.#filled, this.#filled + count);
    this.#filled += count;
    if (source === undefined) target.fill(0);
    else if (source.cipher !== undefined) this.#reads.push(this.#decrypt(source, from, target));
    else if ("bytes" in source) target.set(source.bytes.subarray(from, from + count));
    else this.#reads.push(this.#handles.read(source.extent, target, source.offset + from));
    if (this.#reads.length >= readsAtOnceMax) await this.#settle();
    return count;
  }

  async #decrypt(source: SliceSource, from: number, target: Uint8Array): Promise<void> {
    if (this.#key === undefined) throw new Error("encrypted bytes are read without their key");
    if ("bytes" in source) target.set(source.bytes.subarray(from, from + target.length));
    else await this.#handles.read(source.extent, target, source.offset + from);
    const { cipher } = cipherFrom(source, from);
    if (cipher !== undefined) decryptAt(this.#key, cipher, target);
  }

  async finish(): Promise<Uint8Array> {
    await this.#settle();
    const chunk = this.#buffer.subarray(0, this.#filled);
    this.#filled = 0;
    return chunk;
  }

  /** Afterwards nothing is written into the buffer any more, and another reader may have it. */
  async drain(): Promise<PromiseSettledResult<void>[]> {
    const reads = this.#reads;
    this.#reads = [];
    return Promise.allSettled(reads);
  }

  async #settle(): Promise<void> {
    for (const result of await this.drain()) if (result.status === "rejected") throw result.reason;
  }
}

async function* segments(
  nodes: NodeSource,
  ref: ContentRef,
  span: Span,
): AsyncGenerator<Segment, void, undefined> {
  let at = span.from;
  for await (const slices of walk(nodes, ref, span)) {
    for (const slice of slices) {
      if (slice.at > at) yield { length: slice.at - at, source: undefined };
      const from = Math.max(slice.at, at);
      const to = Math.min(slice.at + slice.length, span.to);
      yield { length: to - from, source: sourceFrom(slice, from) };
      at = to;
    }
  }
  if (at < span.to) yield { length: span.to - at, source: undefined };
}

function sourceFrom({ at, source }: Slice, from: number): SliceSource {
  const cipher = cipherFrom(source, from - at);
  if ("bytes" in source) return { bytes: source.bytes.subarray(from - at), ...cipher };
  return { extent: source.extent, offset: source.offset + from - at, ...cipher };
}
