import type { Span as TraceSpan } from "../base/span.ts";
import type { ContentRef, Slice, SliceSource } from "./content-ref.ts";
import type { ContentReader } from "./content.ts";
import type { CacheUse, ReadOptions } from "./extents/extent-files.ts";
import type { ExtentFileCache } from "./extents/extent-file-cache.ts";
import type { ScopeKeys } from "../store/encryption/scope-keys.ts";
import { walk, type NodeSource } from "./tree/node.ts";
import { decryptAt } from "./body/receive.ts";
import { cipherFrom, type Span } from "./tree/slices.ts";

/** Reads content for `ContentStore.open`: of responses, copies and exports. A content is read in
 *  chunks of up to 1 MiB, each filled by several reads of extents at once, and decrypted if a
 *  client's key or an encryption scope has encrypted it. */

/** Limit of the slices of one chunk that are read at the same time: small ones may be many. */
const concurrentReadsMax = 32;

interface ReaderParts {
  readonly fileCache: ExtentFileCache;
  readonly bufferPool: ReadBufferPool;
  readonly nodes: NodeSource;
  readonly unpin: () => void;
  /** Throws if other server nodes took this one for ended (fenced it): then they no longer keep
   *  what it pinned. */
  readonly assertPinned: () => Promise<void>;
  /** Whether the bytes are in S3, which may be unreachable: `reach` then tests it. */
  readonly isRemote: boolean;
  /** The client's key, for slices that it has encrypted. */
  readonly key?: Uint8Array | undefined;
  readonly scopeKeys: ScopeKeys | undefined;
  /** The traced request that reads; undefined without tracing. */
  readonly span?: TraceSpan | undefined;
}

interface ReadParts extends ReaderParts {
  readonly cacheUse: CacheUse;
}

export function contentReader(ref: ContentRef, parts: ReaderParts): ContentReader {
  const read = (from: number, length: number) =>
    readChunks(ref, { ...parts, cacheUse: "full" }, spanWithin(ref, from, length));
  const reader = { length: ref.length, read, close: parts.unpin };
  if (!parts.isRemote || ref.kind === "inline") return reader;
  // Shows whether S3 can be read before the response begins, because later no error could be sent.
  // Reads the first chunk and drops it: the S3 block cache keeps it for `read`. It must not look
  // like another read of the client, because decrypted bytes are kept with their second read.
  const reach = async (from: number, length: number): Promise<void> => {
    const span = spanWithin(ref, from, Math.min(length, readChunkBytes));
    const first = readChunks(ref, { ...parts, cacheUse: "look-up" }, span);
    await first.next();
    await first.return();
  };
  return { ...reader, reach };
}

function spanWithin(ref: ContentRef, from: number, length: number): Span {
  const to = Math.min(ref.length, from + length);
  return { from: Math.min(from, to), to };
}

/** A part of the content from one source; zeros if it has none, as in the holes of a page blob. */
interface Segment {
  readonly length: number;
  readonly source: SliceSource | undefined;
}

async function* readChunks(
  ref: ContentRef,
  parts: ReadParts,
  span: Span,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (ref.kind === "inline") {
    if (span.to > span.from) yield ref.bytes.subarray(span.from, span.to);
    return;
  }
  const { bufferPool } = parts;
  let left = span.to - span.from;
  if (left === 0) return;
  const buffer = bufferPool.acquire(Math.min(left, readChunkBytes));
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
  } catch (error) {
    // Other nodes that have fenced this one may have deleted the content: then that is the error.
    await parts.assertPinned();
    throw error;
  } finally {
    await filler.drain();
    bufferPool.release(buffer);
  }
}

type StoredSource = Extract<SliceSource, { readonly extent: bigint }>;

/** Fills the buffer of one chunk with segments, several reads at once. */
class ChunkFiller {
  readonly #buffer: Uint8Array;
  readonly #parts: ReadParts;
  readonly #readOptions: ReadOptions;
  #reads: Promise<void>[] = [];
  #filled = 0;

  constructor(buffer: Uint8Array, parts: ReadParts) {
    this.#buffer = buffer;
    this.#parts = parts;
    this.#readOptions = { span: parts.span, cacheUse: parts.cacheUse };
  }

  get isFull(): boolean {
    return this.#filled === this.#buffer.length;
  }

  /** Adds as much of a segment, from offset `from` on, as fits the chunk; returns the length. */
  async add({ length, source }: Segment, from: number): Promise<number> {
    const count = Math.min(length - from, this.#buffer.length - this.#filled);
    const target = this.#buffer.subarray(this.#filled, this.#filled + count);
    this.#filled += count;
    if (source === undefined) target.fill(0);
    else if (source.cipher !== undefined) this.#reads.push(this.#decrypt(source, from, target));
    else if ("bytes" in source) target.set(source.bytes.subarray(from, from + count));
    else this.#reads.push(this.#readFile(source, from, target));
    if (this.#reads.length >= concurrentReadsMax) await this.#awaitReads();
    return count;
  }

  async #decrypt(source: SliceSource, from: number, target: Uint8Array): Promise<void> {
    const { cipher } = cipherFrom(source, from);
    const scope = cipher?.scope;
    const { key: clientKey, scopeKeys } = this.#parts;
    const key = scope === undefined ? clientKey : scopeKeys?.keyOf(scope);
    if (key === undefined) throw new Error("encrypted content was opened without its key");
    if ("bytes" in source) target.set(source.bytes.subarray(from, from + target.length));
    else await this.#readFile(source, from, target);
    if (cipher !== undefined) decryptAt(key, cipher, target);
  }

  #readFile(source: StoredSource, from: number, target: Uint8Array): Promise<void> {
    const { fileCache } = this.#parts;
    return fileCache.read(source.extent, target, source.offset + from, this.#readOptions);
  }

  async finish(): Promise<Uint8Array> {
    await this.#awaitReads();
    const chunk = this.#buffer.subarray(0, this.#filled);
    this.#filled = 0;
    return chunk;
  }

  /** Waits for all reads, so that none writes to the buffer when another reader has it. */
  async drain(): Promise<PromiseSettledResult<void>[]> {
    const reads = this.#reads;
    this.#reads = [];
    return Promise.allSettled(reads);
  }

  async #awaitReads(): Promise<void> {
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

/** Chunk size of a read. While more than `fullChunksMax` reads run, new ones use `smallChunkBytes`,
 *  so that all together take little more than 64 MiB. */
const readChunkBytes = 1024 * 1024;
const smallChunkBytes = 128 * 1024;
const fullChunksMax = 64;
/** Limit of the unused buffers of `readChunkBytes` that the pool keeps. */
const freeMax = 16;

/** Pools the buffers of reads: those of 1 MiB are expensive to allocate and to free. */
export class ReadBufferPool {
  readonly #free: Uint8Array[] = [];
  #acquired = 0;

  acquire(length: number): Uint8Array {
    this.#acquired += 1;
    if (length <= smallChunkBytes || this.#acquired > fullChunksMax) {
      return Buffer.allocUnsafeSlow(Math.min(length, smallChunkBytes));
    }
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(readChunkBytes);
  }

  release(buffer: Uint8Array): void {
    this.#acquired -= 1;
    if (buffer.length === readChunkBytes && this.#free.length < freeMax) this.#free.push(buffer);
  }
}
