const firstBytes = 16 * 1024;
/** No code unit of a string becomes more bytes of UTF-8. */
const bytesPerUnitMax = 3;

/** Text that is encoded as it is written: a long listing never exists as strings and records at
 *  the same time, which would keep the garbage collector busy copying them. */
export class TextBytes {
  #buffer = Buffer.allocUnsafe(firstBytes);
  #length = 0;

  append(text: string): void {
    const needed = this.#length + text.length * bytesPerUnitMax;
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#length += this.#buffer.write(text, this.#length, "utf8");
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.bytes());
    this.#buffer = larger;
  }
}
