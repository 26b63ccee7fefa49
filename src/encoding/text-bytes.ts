/** A buffer for responses that are written piece by piece: the JSON of entities (`table/json`) and
 *  the parts of table transactions (`http/batch`). */

const firstBytes = 32 * 1024;
const keptBytesMax = 1024 * 1024;
/** Most bytes of UTF-8 that a UTF-16 code unit becomes. */
const bytesPerUnitMax = 3;
/** Up to this many code units, a loop is faster than a native encode or copy. */
const loopBytesMax = 48;

/** A growing buffer of UTF-8 text, encoded while it is written. A long text therefore never exists
 *  as strings and as bytes at the same time, which would make the garbage collector copy both. */
export class TextBytes {
  #buffer = Buffer.allocUnsafe(firstBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(text: string): void {
    const { length } = text;
    this.#reserve(length * bytesPerUnitMax);
    if (length <= loopBytesMax && this.#appendPlain(text)) return;
    this.#length += this.#buffer.write(text, this.#length, "utf8");
  }

  /** Appends ASCII text; returns false, with nothing appended, if the text has other characters. */
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

  appendJson(text: string): void {
    const { length } = text;
    this.#reserve(length + 2);
    const buffer = this.#buffer;
    let at = this.#length;
    buffer[at++] = quoteMark;
    for (let index = 0; index < length; index += 1) {
      const unit = text.charCodeAt(index);
      if (!isPlain(unit)) {
        this.append(JSON.stringify(text));
        return;
      }
      buffer[at++] = unit;
    }
    buffer[at++] = quoteMark;
    this.#length = at;
  }

  /** Appends text without characters above U+007F; the caller guarantees that. */
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

  /** The written bytes, not copied: they are valid until the next change of the buffer. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Empties the buffer for reuse, and frees what a long text needed. The result of an earlier
   *  `bytes` must have been copied before. */
  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > keptBytesMax) this.#buffer = Buffer.allocUnsafe(firstBytes);
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

const quoteMark = 0x22;
const backslash = 0x5c;

/** Whether a JSON string contains the character as one unescaped byte. */
function isPlain(unit: number): boolean {
  return unit >= 0x20 && unit < 0x80 && unit !== quoteMark && unit !== backslash;
}
