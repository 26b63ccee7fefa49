/** Avro object containers: a header with the schema, then blocks of records, each followed by the
 *  sync marker, which may be any 16 bytes. The change feed and Query Blob Contents write them.
 *  avro.apache.org/docs/1.11.1/specification */

const magic = Uint8Array.of(0x4f, 0x62, 0x6a, 0x01);

/** The header of a container. `metadata` must contain `avro.schema`, the schema in JSON. */
export function avroHeader(
  metadata: Readonly<Record<string, string>>,
  marker: Uint8Array,
): Uint8Array {
  const encoder = new AvroEncoder();
  encoder.map(metadata, (value) => encoder.text(value));
  return Buffer.concat([magic, encoder.take(), marker]);
}

/** A block of records, which an `AvroEncoder` has encoded. */
export function avroBlock(count: number, records: Uint8Array, marker: Uint8Array): Uint8Array {
  const encoder = new AvroEncoder();
  encoder.long(count);
  encoder.long(records.length);
  return Buffer.concat([encoder.take(), records, marker]);
}

const firstBytes = 4096;

/** Encodes the values of records one after the other; the caller follows the schema, which the
 *  bytes do not repeat. */
export class AvroEncoder {
  #buffer = Buffer.allocUnsafe(firstBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A long, or the index of an enum symbol or a union branch: zigzag, 7 bits per byte, least
   *  significant first. */
  long(value: number): void {
    this.#reserve(10);
    let rest = value < 0 ? -2 * value - 1 : 2 * value;
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#length++] = rest;
  }

  boolean(value: boolean): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value ? 1 : 0;
  }

  bytes(value: Uint8Array): void {
    this.long(value.length);
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.long(length);
    this.#reserve(length);
    this.#length += this.#buffer.write(value, this.#length);
  }

  /** Writes a map in one block; `encodeValue` writes each value. */
  map<V>(entries: Readonly<Record<string, V>>, encodeValue: (value: V) => void): void {
    const pairs = Object.entries(entries);
    if (pairs.length > 0) this.long(pairs.length);
    for (const [name, value] of pairs) {
      this.text(name);
      encodeValue(value);
    }
    this.long(0);
  }

  /** Writes a value of a union of null and one other type, in this order. */
  nullable<V>(value: V | undefined, encodeValue: (value: V) => void): void {
    this.long(value === undefined ? 0 : 1);
    if (value !== undefined) encodeValue(value);
  }

  /** Returns the encoded bytes and starts again. */
  take(): Uint8Array {
    const bytes = Uint8Array.prototype.slice.call(this.#buffer, 0, this.#length);
    this.#length = 0;
    return bytes;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#buffer.length, this.#length + count));
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }
}
