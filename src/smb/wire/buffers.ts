/** Reading and building little-endian messages: what all encoders and decoders of SMB, NTLM and the
 *  pipe use. */

/** Reads a little-endian message. A read beyond its end returns zeros and clears `intact`, so that
 *  decoders need only one check at the end. */
export class Reader {
  readonly #bytes: Buffer;
  #at: number;
  #intact = true;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get intact(): boolean {
    return this.#intact;
  }

  get position(): number {
    return this.#at;
  }

  get remaining(): number {
    return Math.max(0, this.#bytes.length - this.#at);
  }

  /** Returns a decoded value, or undefined if the message was too short for it. */
  checked<T>(value: T): T | undefined {
    return this.#intact ? value : undefined;
  }

  skip(count: number): this {
    this.#take(count);
    return this;
  }

  align(unit: number): this {
    this.#at = Math.ceil(this.#at / unit) * unit;
    return this;
  }

  u8(): number {
    const at = this.#take(1);
    return at === undefined ? 0 : this.#bytes[at]!;
  }

  u16(): number {
    const at = this.#take(2);
    return at === undefined ? 0 : this.#bytes.readUInt16LE(at);
  }

  u32(): number {
    const at = this.#take(4);
    return at === undefined ? 0 : this.#bytes.readUInt32LE(at);
  }

  u64(): bigint {
    const at = this.#take(8);
    return at === undefined ? 0n : this.#bytes.readBigUInt64LE(at);
  }

  i64(): bigint {
    const at = this.#take(8);
    return at === undefined ? 0n : this.#bytes.readBigInt64LE(at);
  }

  bytes(count: number): Buffer {
    const at = this.#take(count);
    return at === undefined ? nothing : this.#bytes.subarray(at, at + count);
  }

  /** Reads UTF-16LE; an odd length clears `intact`. */
  text(byteCount: number): string {
    if (byteCount % 2 !== 0) this.#intact = false;
    return this.bytes(byteCount).toString("utf16le");
  }

  /** The bytes at an offset that the message contains. They must be after the fields that were
   *  read: an offset into the header is malformed. With length 0 the offset is not checked. */
  bytesAt(offset: number, length: number): Buffer {
    if (length === 0) return nothing;
    if (offset < this.#at || offset + length > this.#bytes.length) {
      this.#intact = false;
      return nothing;
    }
    return this.#bytes.subarray(offset, offset + length);
  }

  #take(count: number): number | undefined {
    const at = this.#at;
    if (count < 0 || at < 0 || at + count > this.#bytes.length) {
      this.#intact = false;
      return undefined;
    }
    this.#at = at + count;
    return at;
  }
}

const nothing = Buffer.alloc(0);

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

  /** Overwrites a number that was not known when it was appended. */
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
