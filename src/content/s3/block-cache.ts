/** What was read lately, up to a bound. An object never changes, so nothing here is ever stale. */
export class BlockCache {
  readonly #bytesMax: number;
  /** In the order of last use. One that is still being read is here, too: whoever comes meanwhile
   *  waits for the same answer. */
  readonly #blocks = new Map<string, Kept>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  hasRoomFor(bytes: number): boolean {
    return bytes <= this.#bytesMax;
  }

  get(name: string): Promise<Uint8Array> | undefined {
    const kept = this.#blocks.get(name);
    if (kept === undefined) return undefined;
    this.#blocks.delete(name);
    this.#blocks.set(name, kept);
    return kept.block;
  }

  /** Keeps what is being read, `length` bytes of it; a failure is forgotten at once. */
  put(name: string, length: number, block: Promise<Uint8Array>): void {
    const kept = { block, length };
    this.#forget(name);
    this.#blocks.set(name, kept);
    this.#bytes += length;
    block.catch(() => {
      if (this.#blocks.get(name) === kept) this.#forget(name);
    });
    for (const oldest of this.#blocks.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    this.#bytes -= this.#blocks.get(name)?.length ?? 0;
    this.#blocks.delete(name);
  }
}

interface Kept {
  readonly block: Promise<Uint8Array>;
  readonly length: number;
}
