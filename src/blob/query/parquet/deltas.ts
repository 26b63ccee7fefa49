import { ParquetBytes, ParquetError } from "./parquet-bytes.ts";

/** Limit of this server for the values of a block; writers use 128. */
const blockValuesMax = 65_536;

/** Reads whole numbers of which only the differences are stored, in blocks of several parts. The
 *  differences of a part have the same number of bits.
 *  parquet.apache.org/docs/file-format/data-pages/encodings/#DELTAENC */
export class DeltaReader {
  readonly #reader: ParquetBytes;
  readonly #parts: number;
  readonly #perPart: number;
  /** Number of values that are stored, and of those that were read. */
  readonly #count: number;
  #read = 0;
  /** Half the number of possible values: sums wrap around, as in the integers of the writer. */
  readonly #half: bigint;
  #value: bigint;
  #smallest = 0n;
  #widths: Uint8Array = new Uint8Array(0);
  /** The next part of the block. */
  #part = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #width = 0;
  #bit = 0;
  #left = 0;

  /** `bits`: the size of the numbers, 32 or 64. */
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
      const difference = this.#smallest + bitsAt(this.#bytes, this.#bit, this.#width);
      this.#value = this.#wrap(this.#value + difference);
      this.#bit += this.#width;
      this.#left -= 1;
    }
    this.#read += 1;
    return this.#value;
  }

  /** Moves the reader of the bytes behind the values, without computing them. */
  skip(): void {
    for (let left = this.#count - 1; left > 0; left -= this.#perPart) this.#startPart();
  }

  /** Sums wrap around. (BigInt.asIntN and asUintN with 64 bits make Node 20 crash: its compiler
   *  fails in functions that use them in loops.) */
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

function bitsAt(bytes: Uint8Array, from: number, width: number): bigint {
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

/** Returns a reader of the values at the position of `reader`, which moves behind them. */
function section(reader: ParquetBytes): DeltaReader {
  const values = new DeltaReader(new ParquetBytes(reader.bytes.subarray(reader.at)));
  new DeltaReader(reader).skip();
  return values;
}

/** Reads texts whose lengths are stored before them, as differences. */
export function textsByLength(reader: ParquetBytes): () => Uint8Array {
  const lengths = section(reader);
  return () => reader.take(Number(lengths.next()));
}

/** Reads texts that begin with a part of the text before them. */
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
