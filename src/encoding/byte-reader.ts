/** Reads numbers and bytes in order: of Parquet files (`blob/query`) and of stored content nodes
 *  (`content/tree`). Throws at the end of the bytes, and for numbers that are too long.
 *  Fixed-length numbers are little-endian unless their name says otherwise. */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get remaining(): number {
    return this.bytes.length - this.at;
  }

  /** Returns the next bytes as a view, not a copy. */
  take(length: number): Uint8Array {
    const from = this.#advance(length);
    return this.bytes.subarray(from, from + length);
  }

  /** Returns a copy of the next bytes, which stays valid when the memory that is read is reused. */
  copy(length: number): Uint8Array {
    const from = this.#advance(length);
    return Uint8Array.prototype.slice.call(this.bytes, from, from + length);
  }

  uint8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  uint32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  int32(): number {
    return this.#view.getInt32(this.#advance(4), true);
  }

  int64(): bigint {
    return this.#view.getBigInt64(this.#advance(8), true);
  }

  bigEndianUint64(): bigint {
    return this.#view.getBigUint64(this.#advance(8));
  }

  float(): number {
    return this.#view.getFloat32(this.#advance(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** Reads an unsigned number in groups of seven bits, lowest first. Five groups have 32 bits,
   *  eight a safe integer. */
  varint(groupsMax = 5): number {
    let value = 0;
    let scale = 1;
    for (let group = 0; group < groupsMax; group += 1) {
      const byte = this.uint8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    return this.fail("a number is too long");
  }

  /** Reads an unsigned number of up to 70 bits, in groups of seven: enough for 64 bits. */
  varbigint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.uint8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return this.fail("a number is too long");
  }

  /** Reads a signed number in zigzag encoding, as Parquet has it: the lowest bit is the sign. */
  zigzag(): bigint {
    const coded = this.varbigint();
    return (coded >> 1n) ^ -(coded & 1n);
  }

  /** Throws for invalid bytes. Readers of one format override it to throw their own error. */
  protected fail(reason: string): never {
    throw new Error(reason);
  }

  #advance(length: number): number {
    const from = this.at;
    if (length < 0 || from + length > this.bytes.length) this.fail("the data is truncated");
    this.at = from + length;
    return from;
  }
}
