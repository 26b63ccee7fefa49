import { LruMap } from "../../process/memo.ts";

/** Cache of the blocks of S3 objects that were read last, for `part-reader.ts`, because each
 *  request to the service takes milliseconds. Objects are immutable, so entries are never stale.
 *  Evicts exactly the least recently used: content that fits into the configured cache is requested
 *  only once. */
export class BlockCache {
  readonly #bytesMax: number;
  /** Also contains blocks that are still being read, so that concurrent readers share one
   *  request. */
  readonly #blocks: LruMap<CachedBlock>;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#blocks = new LruMap({ weightMax: bytesMax, weigh: ({ length }) => length });
  }

  hasRoomFor(bytes: number): boolean {
    return bytes <= this.#bytesMax;
  }

  get(name: string): Promise<Uint8Array> | undefined {
    return this.#blocks.get(name)?.block;
  }

  /** Caches a block of `length` bytes that is being read; a failed read is removed, so that the
   *  next one tries again. */
  put(name: string, length: number, block: Promise<Uint8Array>): void {
    const cached = { block, length };
    this.#blocks.set(name, cached);
    block.catch(() => {
      if (this.#blocks.get(name) === cached) this.#blocks.delete(name);
    });
  }
}

interface CachedBlock {
  readonly block: Promise<Uint8Array>;
  readonly length: number;
}
