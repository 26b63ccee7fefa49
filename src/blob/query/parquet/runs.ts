import { ParquetError, type ParquetBytes } from "./parquet-bytes.ts";

const widthMax = 32;

/** Reads numbers of `width` bits in runs, which either repeat one number or pack eight numbers into
 *  `width` bytes. parquet.apache.org/docs/file-format/data-pages/encodings/#RLE */
export class RunReader {
  readonly #reader: ParquetBytes;
  readonly #width: number;
  /** Numbers that are left in the current run. */
  #left = 0;
  #repeated = 0;
  /** The bytes of a packed run; undefined if the run repeats a number. */
  #packed: Uint8Array | undefined;
  #bit = 0;

  constructor(reader: ParquetBytes, width: number) {
    if (width > widthMax) throw new ParquetError(`numbers of ${width} bits are not possible`);
    this.#reader = reader;
    this.#width = width;
  }

  next(): number {
    if (this.#width === 0) return 0;
    if (this.#left === 0) this.#startRun();
    this.#left -= 1;
    if (this.#packed === undefined) return this.#repeated;
    const value = bitsAt(this.#packed, this.#bit, this.#width);
    this.#bit += this.#width;
    return value;
  }

  #startRun(): void {
    const reader = this.#reader;
    const head = reader.varint();
    // Division, because a shift would make the number negative.
    const length = Math.floor(head / 2);
    if (length === 0) throw new ParquetError("a run is empty");
    if (head % 2 === 0) {
      this.#repeated = readNumber(reader, Math.ceil(this.#width / 8));
      this.#packed = undefined;
      this.#left = length;
      return;
    }
    // The last groups may be cut off where no values are left.
    this.#packed = reader.take(Math.min(length * this.#width, reader.remaining));
    this.#bit = 0;
    this.#left = Math.floor((this.#packed.length * 8) / this.#width);
    if (this.#left === 0) throw new ParquetError("a run is truncated");
  }
}

function readNumber(reader: ParquetBytes, bytes: number): number {
  let value = 0;
  for (let at = 0; at < bytes; at += 1) value += reader.uint8() * 2 ** (8 * at);
  return value;
}

/** The number in `width` bits; the lowest bits of a byte come first. Exact up to 53 bits. */
function bitsAt(bytes: Uint8Array, from: number, width: number): number {
  let value = 0;
  for (let have = 0; have < width;) {
    const bit = from + have;
    const offset = bit % 8;
    const taken = Math.min(8 - offset, width - have);
    const part = ((bytes[Math.floor(bit / 8)] ?? 0) >> offset) & ((1 << taken) - 1);
    value += part * 2 ** have;
    have += taken;
  }
  return value;
}
