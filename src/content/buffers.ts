/** A chunk of a running read; beyond `fullChunksMax` reads at a time chunks are smaller. */
export const readChunkBytes = 1024 * 1024;
const smallChunkBytes = 128 * 1024;
const fullChunksMax = 64;
const spareMax = 16;

/** Large buffers are costly to make and to collect, so a few are kept. */
export class Buffers {
  readonly #spare: Uint8Array[] = [];
  #lent = 0;

  take(length: number): Uint8Array {
    this.#lent += 1;
    if (length <= smallChunkBytes || this.#lent > fullChunksMax) {
      return Buffer.allocUnsafeSlow(Math.min(length, smallChunkBytes));
    }
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(readChunkBytes);
  }

  giveBack(buffer: Uint8Array): void {
    this.#lent -= 1;
    if (buffer.length === readChunkBytes && this.#spare.length < spareMax) this.#spare.push(buffer);
  }
}
