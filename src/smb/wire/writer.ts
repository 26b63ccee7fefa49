const initialBytes = 256;

/** Builds a little-endian message by appending; the counterpart of `Reader`. Grows as needed, so
 *  that encoders compute no lengths; a `capacity` of the final length saves a copy. */
export class Writer {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity = initialBytes) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    this.#bytes[this.#grow(1)] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.#grow(2);
    this.#bytes.writeUInt16LE(value, at);
    return this;
  }

  u32(value: number): this {
    const at = this.#grow(4);
    this.#bytes.writeUInt32LE(value >>> 0, at);
    return this;
  }

  u64(value: bigint): this {
    const at = this.#grow(8);
    this.#bytes.writeBigUInt64LE(BigInt.asUintN(64, value), at);
    return this;
  }

  bytes(value: Uint8Array): this {
    const at = this.#grow(value.length);
    this.#bytes.set(value, at);
    return this;
  }

  text(value: string): this {
    return this.bytes(Buffer.from(value, "utf16le"));
  }

  zeros(count: number): this {
    const at = this.#grow(count);
    this.#bytes.fill(0, at, at + count);
    return this;
  }

  /** Appends zeros up to the next multiple of `unit`. */
  align(unit: number): this {
    return this.zeros((unit - (this.#length % unit)) % unit);
  }

  setU32(at: number, value: number): this {
    this.#bytes.writeUInt32LE(value >>> 0, at);
    return this;
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #grow(count: number): number {
    const at = this.#length;
    const needed = at + count;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#length = needed;
    return at;
  }
}
