/** Chunk size of a read. While more than `fullChunksMax` reads run, new ones use
 *  `smallChunkBytes`. */
export const readChunkBytes = 1024 * 1024;
const smallChunkBytes = 128 * 1024;
const fullChunksMax = 64;
const freeMax = 16;

/** Pools the buffers of content reads: buffers of 1 MiB are expensive to allocate and to
 *  collect. */
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
