/** Cache of the blocks of S3 objects that were read last, for `part-reader.ts`, because each
 *  request to the service takes milliseconds. Objects are immutable, so entries are never stale.
 *  Evicts exactly the least recently used, unlike `process/memo.ts`, which may evict once half of
 *  the bound is in use: content that fits into the configured cache is requested only once. */
export class BlockCache {
  readonly #bytesMax: number;
  /** Ordered by last use. Also contains blocks that are still being read, so that concurrent
   *  readers share one request. */
  readonly #blocks = new Map<string, CachedBlock>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  hasRoomFor(bytes: number): boolean {
    return bytes <= this.#bytesMax;
  }

  get(name: string): Promise<Uint8Array> | undefined {
    const cached = this.#blocks.get(name);
    if (cached === undefined) return undefined;
    this.#blocks.delete(name);
    this.#blocks.set(name, cached);
    return cached.block;
  }

  /** Caches a block of `length` bytes that is being read; a failed read is removed, so that the
   *  next one tries again. */
  put(name: string, length: number, block: Promise<Uint8Array>): void {
    const cached = { block, length };
    this.#remove(name);
    this.#blocks.set(name, cached);
    this.#bytes += length;
    block.catch(() => {
      if (this.#blocks.get(name) === cached) this.#remove(name);
    });
    for (const oldest of this.#blocks.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(oldest);
    }
  }

  #remove(name: string): void {
    this.#bytes -= this.#blocks.get(name)?.length ?? 0;
    this.#blocks.delete(name);
  }
}

interface CachedBlock {
  readonly block: Promise<Uint8Array>;
  readonly length: number;
}
