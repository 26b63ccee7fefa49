import { ByteReader } from "../../../encoding/byte-reader.ts";
import type { Column } from "./metadata.ts";

/** Decoders of the encodings of values in Parquet pages, for `column-cursor.ts`. */

/** A Parquet file, or a part of one, that is malformed or that this server cannot read. */
export class ParquetError extends Error {
  override readonly name = "ParquetError";
}

/** Reads numbers from bytes, in order. Throws `ParquetError` at the end of the bytes. */
export class ParquetBytes extends ByteReader {
  protected override fail(reason: string): never {
    throw new ParquetError(reason);
  }
}

/** A value as it is stored in a page, before its logical type is applied. */
export type RawValue = boolean | number | bigint | Uint8Array;

/** Returns the next value of a page at each call. Pages are decoded value by value, so that no call
 *  takes long. */
export type NextValue = () => RawValue;

type StoredType = Pick<Column, "type" | "typeLength">;

/** Decodes the plain encoding: values that are stored one after the other. */
export function plainValues(reader: ParquetBytes, { type, typeLength }: StoredType): NextValue {
  switch (type) {
    case "boolean":
      return flags(reader);
    case "int32":
      return () => reader.int32();
    case "int64":
      return () => reader.int64();
    case "int96":
      return () => reader.take(12);
    case "float":
      return () => reader.float();
    case "double":
      return () => reader.double();
    case "bytes":
      return () => reader.take(reader.uint32());
    case "fixed":
      if (typeLength <= 0) throw new ParquetError("the length of the values is missing");
      return () => reader.take(typeLength);
  }
}

function flags(reader: ParquetBytes): NextValue {
  let byte = 0;
  let left = 0;
  return () => {
    if (left === 0) {
      byte = reader.uint8();
      left = 8;
    }
    const isSet = (byte >> (8 - left)) & 1;
    left -= 1;
    return isSet === 1;
  };
}

const widths: Readonly<Partial<Record<Column["type"], number>>> = {
  int32: 4,
  int64: 8,
  float: 4,
  double: 8,
};

/** Decodes the encoding BYTE_STREAM_SPLIT: the first bytes of all values are stored together, then
 *  their second bytes, and so on. */
export function splitValues(reader: ParquetBytes, column: StoredType): NextValue {
  const width = column.type === "fixed" ? column.typeLength : (widths[column.type] ?? 0);
  if (width <= 0) throw new ParquetError("values of this type cannot be split");
  const count = Math.floor(reader.remaining / width);
  const split = reader.take(width * count);
  let at = 0;
  return () => {
    if (at >= count) throw new ParquetError("values are missing");
    const bytes = Uint8Array.from(
      { length: width },
      (_, stream) => split[stream * count + at] ?? 0,
    );
    at += 1;
    return plainValues(new ParquetBytes(bytes), column)();
  };
}

const widthMax = 32;

/** Reads numbers of `width` bits in runs, which either repeat one number or pack eight numbers into
 *  `width` bytes. parquet.apache.org/docs/file-format/data-pages/encodings/#RLE */
export class RunReader {
  readonly #reader: ParquetBytes;
  readonly #width: number;
  /** How many numbers of the current run were not read yet. */
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
    // Writers may cut off the last groups after the last value.
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

/** The number in `width` bits from bit `from` on; the lowest bits of a byte come first. Exact up to
 *  53 bits; `bigBitsAt` is for longer ones. */
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

/** Most values in a block of the delta encoding, against malicious files; writers use 128. */
const blockValuesMax = 65_536;

/** Reads whole numbers of which only the differences are stored, in blocks of several parts. The
 *  differences of a part have the same number of bits.
 *  parquet.apache.org/docs/file-format/data-pages/encodings/#DELTAENC */
export class DeltaReader {
  readonly #reader: ParquetBytes;
  readonly #parts: number;
  readonly #perPart: number;
  /** Number of stored values, and of those that were returned. */
  readonly #count: number;
  #read = 0;
  /** Half the number of possible values of the type: sums wrap around, as in the integers of the
   *  writer. */
  readonly #half: bigint;
  #value: bigint;
  #smallest = 0n;
  #widths: Uint8Array = new Uint8Array(0);
  /** Index of the next part of the current block. */
  #part = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #width = 0;
  #bit = 0;
  #left = 0;

  /** `bits` is the size of the numbers in the writer: 32 or 64. */
  constructor(reader: ParquetBytes, bits = 64) {
    this.#half = 2n ** BigInt(bits - 1);
    const blockValues = reader.varint();
    this.#reader = reader;
    this.#parts = reader.varint();
    this.#count = reader.varint();
    this.#value = reader.zigzag();
    this.#perPart = blockValues / this.#parts;
    const isPossible =
      blockValues <= blockValuesMax && this.#perPart > 0 && this.#perPart % 8 === 0;
    if (!isPossible) throw new ParquetError("a block of differences is malformed");
  }

  next(): bigint {
    if (this.#read >= this.#count) throw new ParquetError("differences are missing");
    if (this.#read > 0) {
      if (this.#left === 0) this.#startPart();
      const difference = this.#smallest + bigBitsAt(this.#bytes, this.#bit, this.#width);
      this.#value = this.#wrap(this.#value + difference);
      this.#bit += this.#width;
      this.#left -= 1;
    }
    this.#read += 1;
    return this.#value;
  }

  /** Moves the underlying reader behind the values, where other data follows. */
  skip(): void {
    for (let left = this.#count - 1; left > 0; left -= this.#perPart) this.#startPart();
  }

  /** Wraps a sum around, as fixed-size integers do. (BigInt.asIntN and asUintN with 64 bits make
   *  Node 20 crash: its compiler fails in functions that use them in loops.) */
  #wrap(sum: bigint): bigint {
    const whole = 2n * this.#half;
    const rest = (sum + this.#half) % whole;
    return (rest < 0n ? rest + whole : rest) - this.#half;
  }

  #startPart(): void {
    if (this.#part === this.#widths.length) {
      this.#smallest = this.#reader.zigzag();
      this.#widths = this.#reader.take(this.#parts);
      this.#part = 0;
    }
    this.#width = this.#widths[this.#part] ?? 0;
    if (this.#width > 64) throw new ParquetError("a difference has over 64 bits");
    this.#part += 1;
    this.#bytes = this.#reader.take((this.#perPart * this.#width) / 8);
    this.#bit = 0;
    this.#left = this.#perPart;
  }
}

function bigBitsAt(bytes: Uint8Array, from: number, width: number): bigint {
  let value = 0n;
  for (let have = 0; have < width;) {
    const bit = from + have;
    const offset = bit & 7;
    const taken = Math.min(8 - offset, width - have);
    const part = ((bytes[bit >> 3] ?? 0) >> offset) & ((1 << taken) - 1);
    value |= BigInt(part) << BigInt(have);
    have += taken;
  }
  return value;
}

/** Returns a reader of the delta-encoded numbers at the position of `reader`, and moves `reader`
 *  behind them, where the texts that they describe begin. */
function section(reader: ParquetBytes): DeltaReader {
  const values = new DeltaReader(new ParquetBytes(reader.bytes.subarray(reader.at)));
  new DeltaReader(reader).skip();
  return values;
}

/** Reads texts whose lengths are stored before the texts, as differences. */
export function textsByLength(reader: ParquetBytes): () => Uint8Array {
  const lengths = section(reader);
  return () => reader.take(Number(lengths.next()));
}

/** Reads texts of which only the end is stored, with the number of bytes that they share with the
 *  start of the text before ("delta byte array"). */
export function textsByPrefix(reader: ParquetBytes): () => Uint8Array {
  const shared = section(reader);
  const next = textsByLength(reader);
  let previous: Uint8Array = new Uint8Array(0);
  return () => {
    const length = Number(shared.next());
    if (length < 0 || length > previous.length) throw new ParquetError("a text is malformed");
    previous = Buffer.concat([previous.subarray(0, length), next()]);
    return previous;
  };
}
