/** A Parquet file, or a part of one, that is malformed or that this server cannot read. */
export class ParquetError extends Error {
  override readonly name = "ParquetError";
}

/** Reads numbers from bytes, in order. Throws `ParquetError` at the end of the bytes. */
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

  /** The next bytes, not copied. */
  take(length: number): Uint8Array {
    const from = this.#advance(length);
    return this.bytes.subarray(from, from + length);
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

  float(): number {
    return this.#view.getFloat32(this.#advance(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** An unsigned number of up to 32 bits, in groups of seven. */
  varint(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.uint8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new ParquetError("a number is too long");
  }

  /** An unsigned number of up to 70 bits, in groups of seven. */
  varbigint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.uint8();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new ParquetError("a number is too long");
  }

  /** A signed number; its lowest bit is the sign. */
  zigzag(): bigint {
    const coded = this.varbigint();
    return (coded >> 1n) ^ -(coded & 1n);
  }

  #advance(length: number): number {
    const from = this.at;
    if (length < 0 || from + length > this.bytes.length) {
      throw new ParquetError("the data is truncated");
    }
    this.at = from + length;
    return from;
  }
}
