const firstBytes = 32 * 1024;
/** No code unit of a string becomes more bytes of UTF-8. */
const bytesPerUnitMax = 3;
/** Up to here a loop beats the call that encodes or copies. */
const loopBytesMax = 48;

/** Text that is encoded as it is written: a long listing never exists as strings and records at
 *  the same time, which would keep the garbage collector busy copying them. */
export class TextBytes {
  #buffer = Buffer.allocUnsafe(firstBytes);
  #length = 0;

  append(text: string): void {
    const { length } = text;
    this.#reserve(length * bytesPerUnitMax);
    if (length <= loopBytesMax && this.#appendPlain(text)) return;
    this.#length += this.#buffer.write(text, this.#length, "utf8");
  }

  /** Tells whether it was plain enough. */
  #appendPlain(text: string): boolean {
    const buffer = this.#buffer;
    let at = this.#length;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) return false;
      buffer[at++] = unit;
    }
    this.#length = at;
    return true;
  }

  /** For text that is known to hold no character beyond U+007F. */
  appendAscii(text: string): void {
    const { length } = text;
    this.#reserve(length);
    if (length > loopBytesMax) {
      this.#length += this.#buffer.write(text, this.#length, "latin1");
      return;
    }
    const buffer = this.#buffer;
    let at = this.#length;
    for (let index = 0; index < length; index += 1) buffer[at++] = text.charCodeAt(index);
    this.#length = at;
  }

  appendByte(byte: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = byte;
  }

  /** A stretch of bytes that are UTF-8 already. */
  appendBytes(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    this.#reserve(length);
    if (length > loopBytesMax) {
      this.#buffer.set(bytes.subarray(from, to), this.#length);
      this.#length += length;
      return;
    }
    const buffer = this.#buffer;
    let at = this.#length;
    for (let index = from; index < to; index += 1) buffer[at++] = bytes[index]!;
    this.#length = at;
  }

  text(): string {
    return this.#buffer.toString("utf8", 0, this.#length);
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Starts anew in the same room; what `bytes` gave before must have been copied. */
  clear(): void {
    this.#length = 0;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed > this.#buffer.length) this.#grow(needed);
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.bytes());
    this.#buffer = larger;
  }
}
