const sevenBits = 0x80;
/** Maximum length of an encoded safe integer. */
const varintBytesMax = 8;

/** Appends numbers and bytes to a growing buffer that is reused for the next value. */
export class ByteWriter {
  #bytes = new Uint8Array(8192);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  start(): void {
    this.#length = 0;
  }

  /** Returns a copy of the bytes that were written since `start`. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  /** Writes 7 bits per byte, lowest first; the high bit is set if more bytes follow. */
  varint(value: number): void {
    this.#room(varintBytesMax);
    let rest = value;
    while (rest >= sevenBits) {
      this.#bytes[this.#length++] = (rest % sevenBits) | sevenBits;
      rest = Math.floor(rest / sevenBits);
    }
    this.#bytes[this.#length++] = rest;
  }

  uint64(value: bigint): void {
    this.#room(8);
    this.#view.setBigUint64(this.#length, value);
    this.#length += 8;
  }

  bytes(value: Uint8Array): void {
    this.#room(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  #room(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** Reads the output of a `ByteWriter`. Byte strings are copied, because a stored value may be a
 *  view of engine memory. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    return this.#view.getUint8(this.#at++);
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < varintBytesMax; count += 1) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < sevenBits) return value;
      scale *= sevenBits;
    }
    throw new Error("stored number is too long");
  }

  uint64(): bigint {
    const value = this.#view.getBigUint64(this.#at);
    this.#at += 8;
    return value;
  }

  bytes(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new Error("stored value is truncated");
    const start = this.#at;
    this.#at += length;
    return Uint8Array.prototype.slice.call(this.#bytes, start, this.#at);
  }
}
