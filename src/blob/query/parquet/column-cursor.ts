import type { LoopShare } from "../../../base/loop-share.ts";
import type { FieldValue } from "../records.ts";
import {
  ParquetBytes,
  ParquetError,
  plainValues,
  splitValues,
  RunReader,
  DeltaReader,
  textsByLength,
  textsByPrefix,
  type NextValue,
} from "./page-values.ts";
import { convert } from "./convert.ts";
import { decompress } from "./decompress.ts";
import {
  intOf,
  readStruct,
  structOf,
  type Column,
  type ColumnChunk,
  type ThriftStruct,
} from "./metadata.ts";

/** Reads one column of a Parquet file page by page, for `read-parquet.ts`. */

/** The header of a page of a Parquet column: a dictionary, or values. */
interface PageHeader {
  readonly kind: "dictionary" | "data" | "data-2" | "other";
  /** Bytes of the header itself, and of the page that follows it. */
  readonly headerBytes: number;
  readonly storedBytes: number;
  readonly pageBytes: number;
  /** Number of values, including nulls. */
  readonly valueCount: number;
  readonly encoding: number;
  /** Bytes of the levels at the start of a page of version 2, which are not compressed. */
  readonly levelBytes: number;
  readonly repetitionBytes: number;
  readonly isCompressed: boolean;
}

/** Longest page that is read, as a whole into memory; writers make pages of about 1 MiB. */
const pageBytesMax = 16 * 1024 * 1024;
/** Most values of a page that this server reads: a malicious page of repeated values can have very
 *  many in a few bytes. */
const pageValuesMax = 16 * 1024 * 1024;
/** Most values of a dictionary (the distinct values of a column), which are all decoded at once. */
const dictionaryValuesMax = 1024 * 1024;

const kinds = ["data", "other", "dictionary", "data-2"] as const;

/** Parses the page header at the start of the bytes. Throws `ParquetError` if they do not contain
 *  all of it; the cursor then reads more. */
export function readPageHeader(bytes: Uint8Array): PageHeader {
  const reader = new ParquetBytes(bytes);
  const struct = readStruct(reader);
  const kind = kinds[intOf(struct, 1) ?? 1] ?? "other";
  const details = detailsOf(struct, kind);
  const header: PageHeader = {
    kind,
    headerBytes: reader.at,
    pageBytes: intOf(struct, 2) ?? -1,
    storedBytes: intOf(struct, 3) ?? -1,
    valueCount: intOf(details, 1) ?? 0,
    encoding: intOf(details, kind === "data-2" ? 4 : 2) ?? -1,
    levelBytes: kind === "data-2" ? (intOf(details, 5) ?? 0) + (intOf(details, 6) ?? 0) : 0,
    repetitionBytes: kind === "data-2" ? (intOf(details, 6) ?? 0) : 0,
    isCompressed: details?.get(7) !== false,
  };
  checkSizes(header);
  return header;
}

function detailsOf(struct: ThriftStruct, kind: PageHeader["kind"]): ThriftStruct | undefined {
  switch (kind) {
    case "data":
      return structOf(struct, 5);
    case "dictionary":
      return structOf(struct, 7);
    case "data-2":
      return structOf(struct, 8);
    case "other":
      return undefined;
  }
}

function checkSizes(header: PageHeader): void {
  const { storedBytes, pageBytes, valueCount, levelBytes, repetitionBytes } = header;
  for (const bytes of [storedBytes, pageBytes]) {
    if (bytes < 0) throw new ParquetError("the size of a page is missing");
    if (bytes > pageBytesMax) throw new ParquetError(`a page has over ${pageBytesMax} bytes`);
  }
  const valuesMax = header.kind === "dictionary" ? dictionaryValuesMax : pageValuesMax;
  if (valueCount < 0 || valueCount > valuesMax) {
    throw new ParquetError(`a page has over ${valuesMax} values`);
  }
  const hasLevels = levelBytes >= repetitionBytes && repetitionBytes >= 0;
  if (!hasLevels || levelBytes > Math.min(storedBytes, pageBytes)) {
    throw new ParquetError("the levels of a page are longer than the page");
  }
}

/** The values of a dictionary page, which data pages refer to by their index. */
interface Dictionary {
  readonly values: readonly FieldValue[];
  readonly bytes: number;
}

/** Numbers of the page encodings that writers use today; pages with others are a fault.
 *  parquet.apache.org/docs/file-format/data-pages/encodings/ */
const encodings = {
  plain: 0,
  plainDictionary: 2,
  runs: 3,
  deltas: 5,
  deltaLengths: 6,
  deltaTexts: 7,
  dictionary: 8,
  split: 9,
} as const;

/** Returns a function that decodes the next value of a data page; nulls are not among them. */
function pageValues(
  bytes: Uint8Array,
  encoding: number,
  column: Column,
  dictionary: Dictionary | undefined,
): () => FieldValue {
  const reader = new ParquetBytes(bytes);
  if (encoding === encodings.dictionary || encoding === encodings.plainDictionary) {
    return dictionaryValues(reader, dictionary);
  }
  const next = storedValues(reader, encoding, column);
  return () => convert(next(), column);
}

function dictionaryValues(reader: ParquetBytes, dictionary: Dictionary | undefined) {
  if (dictionary === undefined) throw new ParquetError("a dictionary is missing");
  // A page without values may be empty: it has no byte with the bit width.
  const indexes = new RunReader(reader, reader.remaining === 0 ? 0 : reader.uint8());
  return (): FieldValue => {
    const value = dictionary.values[indexes.next()];
    if (value === undefined) throw new ParquetError("a value is not in the dictionary");
    return value;
  };
}

function storedValues(reader: ParquetBytes, encoding: number, column: Column): NextValue {
  switch (encoding) {
    case encodings.plain:
      return plainValues(reader, column);
    case encodings.runs: {
      const flags = new RunReader(new ParquetBytes(reader.take(reader.uint32())), 1);
      return () => flags.next() === 1;
    }
    case encodings.deltas: {
      if (column.type !== "int32") {
        const numbers = new DeltaReader(reader);
        return () => numbers.next();
      }
      const numbers = new DeltaReader(reader, 32);
      return () => Number(numbers.next());
    }
    case encodings.deltaLengths:
      return textsByLength(reader);
    case encodings.deltaTexts:
      return textsByPrefix(reader);
    case encodings.split:
      return splitValues(reader, column);
    default:
      throw new ParquetError(`this server cannot read the encoding ${encoding}`);
  }
}

/** A file that is read in ranges: the queried blob. */
export interface RangeFile {
  readonly loop: LoopShare;
  readonly length: number;
  read(from: number, length: number): Promise<Uint8Array>;
}

/** Bytes that are read for a page header, whose length is unknown; a header with long statistics
 *  needs the larger number. */
const headerBytes = 1024;
const headerBytesMax = 256 * 1024;
/** Cost of decoding one value of a dictionary, in units of event-loop time (about 10 µs;
 *  `base/loop-share.ts`): other requests run in between. */
const unitsPerValue = 0.02;

/** Reads the values of one column of a row group in order, for `read-parquet.ts`. Holds one page
 *  and the dictionary in memory. */
export class ColumnCursor {
  readonly #file: RangeFile;
  readonly #column: Column;
  readonly #chunk: ColumnChunk;
  #at: number;
  #dictionary: Dictionary | undefined;
  #pageBytes = 0;
  #isPresent: () => boolean = () => false;
  #next: () => FieldValue = () => null;
  /** How many values are left in the current page before `fill` must read the next. */
  ready = 0;

  constructor(file: RangeFile, column: Column, chunk: ColumnChunk) {
    const { from, to } = chunk;
    if (from < 0 || to < from || to > file.length) throw new ParquetError("a column is truncated");
    this.#file = file;
    this.#column = column;
    this.#chunk = chunk;
    this.#at = from;
  }

  get heldBytes(): number {
    return this.#pageBytes + (this.#dictionary?.bytes ?? 0);
  }

  next(): FieldValue {
    this.ready -= 1;
    return this.#isPresent() ? this.#next() : null;
  }

  /** Reads pages until there is a value to take, if the current page has none left. */
  async fill(): Promise<void> {
    while (this.ready === 0) {
      const header = await this.#readHeader();
      const from = this.#at + header.headerBytes;
      this.#at = from + header.storedBytes;
      if (this.#at > this.#chunk.to) throw new ParquetError("a page is truncated");
      if (header.kind === "other") continue;
      const stored = await this.#file.read(from, header.storedBytes);
      if (header.kind === "dictionary") await this.#readDictionary(header, stored);
      else await this.#startPage(header, stored);
    }
  }

  async #readHeader(): Promise<PageHeader> {
    const left = this.#chunk.to - this.#at;
    if (left <= 0) throw new ParquetError("values are missing");
    const first = await this.#file.read(this.#at, Math.min(left, headerBytes));
    try {
      return readPageHeader(first);
    } catch (error) {
      if (!(error instanceof ParquetError) || left <= headerBytes) throw error;
    }
    return readPageHeader(await this.#file.read(this.#at, Math.min(left, headerBytesMax)));
  }

  async #readDictionary(header: PageHeader, stored: Uint8Array): Promise<void> {
    const bytes = await decompress(this.#chunk.codec, stored, header.pageBytes, this.#file.loop);
    const next = plainValues(new ParquetBytes(bytes), this.#column);
    const values: FieldValue[] = [];
    for (let count = 0; count < header.valueCount; count += 1) {
      values.push(convert(next(), this.#column));
      const wait = this.#file.loop.spend(unitsPerValue);
      if (wait !== undefined) await wait;
    }
    // Estimated, because in memory a value takes several times its length in the file.
    this.#dictionary = { values, bytes: bytes.length + values.length * dictionaryValueBytes };
  }

  async #startPage(header: PageHeader, stored: Uint8Array): Promise<void> {
    const { levels, bytes } =
      header.kind === "data-2"
        ? await this.#splitPage(header, stored)
        : this.#splitOldPage(
            await decompress(this.#chunk.codec, stored, header.pageBytes, this.#file.loop),
          );
    const flags = levels === undefined ? undefined : new RunReader(new ParquetBytes(levels), 1);
    this.#isPresent = flags === undefined ? () => true : () => flags.next() === 1;
    this.#next = pageValues(bytes, header.encoding, this.#column, this.#dictionary);
    this.#pageBytes = bytes.length;
    this.ready = header.valueCount;
  }

  /** Separates the definition levels of a page (which values are present) from the values. In pages
   *  of version 2 the levels come first and are not compressed. */
  async #splitPage(header: PageHeader, stored: Uint8Array): Promise<PageParts> {
    const { repetitionBytes, levelBytes, pageBytes, isCompressed } = header;
    const levels = stored.subarray(repetitionBytes, levelBytes);
    const rest = stored.subarray(levelBytes);
    const codec = isCompressed ? this.#chunk.codec : 0;
    const bytes = await decompress(codec, rest, pageBytes - levelBytes, this.#file.loop);
    return { levels: this.#column.isOptional ? levels : undefined, bytes };
  }

  #splitOldPage(page: Uint8Array): PageParts {
    if (!this.#column.isOptional) return { levels: undefined, bytes: page };
    const reader = new ParquetBytes(page);
    const levels = reader.take(reader.uint32());
    return { levels, bytes: page.subarray(reader.at) };
  }
}

/** Approximate memory of a decoded dictionary value besides its text, in bytes: counts against
 *  `heldBytesMax` of a query. */
const dictionaryValueBytes = 32;

interface PageParts {
  /** Definition levels, which say which values are present, as runs; undefined if all are
   *  present. */
  readonly levels: Uint8Array | undefined;
  readonly bytes: Uint8Array;
}
