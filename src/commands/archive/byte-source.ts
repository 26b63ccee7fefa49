/** Reads a given number of bytes at a time from a stream of chunks, for the readers of archives:
 *  the chunks of a file or request end anywhere. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  /** Number of bytes read so far, which messages about damage name. */
  position = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next `count` bytes; undefined if the stream ends before. Memory is used only for bytes
   *  that have arrived, whatever `count` is. */
  async read(count: number): Promise<Uint8Array | undefined> {
    const bytes = await this.readUpTo(count);
    return bytes.length === count ? bytes : undefined;
  }

  /** The next `count` bytes, fewer if the stream ends before. */
  async readUpTo(count: number): Promise<Uint8Array> {
    if (this.#chunk.length >= count) return this.#take(count);
    const parts: Uint8Array[] = [];
    for (let missing = count; missing > 0;) {
      if (this.#chunk.length === 0 && !(await this.#next())) break;
      const part = this.#take(Math.min(missing, this.#chunk.length));
      missing -= part.length;
      parts.push(part);
    }
    const [first] = parts;
    return first !== undefined && parts.length === 1 ? first : Buffer.concat(parts);
  }

  /** All bytes that were not read yet, as they arrive. */
  async *rest(): AsyncGenerator<Uint8Array> {
    while (!(await this.isAtEnd())) yield this.#take(this.#chunk.length);
  }

  async isAtEnd(): Promise<boolean> {
    return this.#chunk.length === 0 && !(await this.#next());
  }

  /** Closes the stream, also before the end was reached. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  #take(count: number): Uint8Array {
    const taken = this.#chunk.subarray(0, count);
    this.#chunk = this.#chunk.subarray(count);
    this.position += count;
    return taken;
  }

  async #next(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return false;
      if (value.length === 0) continue;
      this.#chunk = value;
      return true;
    }
  }
}
