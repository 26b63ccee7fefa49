import { spend } from "../../../base/loop-share.ts";
import type { FieldValue } from "../records.ts";
import { ByteReader, ParquetError } from "./byte-reader.ts";
import { convert } from "./convert.ts";
import { decompress } from "./decompress.ts";
import type { Column, ColumnChunk } from "./metadata.ts";
import { readPageHeader, type PageHeader } from "./page-header.ts";
import { pageValues, type Dictionary } from "./page-values.ts";
import { plainValues } from "./plain-values.ts";
import { RunReader } from "./runs.ts";

/** A file that is read in ranges. */
export interface RangeFile {
  readonly length: number;
  read(from: number, length: number): Promise<Uint8Array>;
}

/** Bytes that are read for a page header; a header with long statistics needs the larger number. */
const headerBytes = 1024;
const headerBytesMax = 256 * 1024;
/** Cost in units of event-loop time (`base/loop-share.ts`), per value of a dictionary. */
const unitsPerValue = 0.02;

/** Reads the values of one column of a row group in order. Holds one page and the dictionary. */
export class ColumnCursor {
  readonly #file: RangeFile;
  readonly #column: Column;
  readonly #chunk: ColumnChunk;
  #at: number;
  #dictionary: Dictionary | undefined;
  #pageBytes = 0;
  #isPresent: () => boolean = () => false;
  #next: () => FieldValue = () => null;
  /** Number of values that `next` can return before the next page must be read. */
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

  /** Reads pages until there is a value. */
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
    const bytes = await decompress(this.#chunk.codec, stored, header.pageBytes);
    const next = plainValues(new ByteReader(bytes), this.#column);
    const values: FieldValue[] = [];
    for (let count = 0; count < header.valueCount; count += 1) {
      values.push(convert(next(), this.#column));
      const wait = spend(unitsPerValue);
      if (wait !== undefined) await wait;
    }
    // A value takes several times its bytes in memory.
    this.#dictionary = { values, bytes: bytes.length + values.length * dictionaryValueBytes };
  }

  async #startPage(header: PageHeader, stored: Uint8Array): Promise<void> {
    const { levels, bytes } =
      header.kind === "data-2"
        ? await this.#splitPage(header, stored)
        : this.#splitOldPage(await decompress(this.#chunk.codec, stored, header.pageBytes));
    const flags = levels === undefined ? undefined : new RunReader(new ByteReader(levels), 1);
    this.#isPresent = flags === undefined ? () => true : () => flags.next() === 1;
    this.#next = pageValues(bytes, header.encoding, this.#column, this.#dictionary);
    this.#pageBytes = bytes.length;
    this.ready = header.valueCount;
  }

  /** Pages of version 2 start with levels that are not compressed. */
  async #splitPage(header: PageHeader, stored: Uint8Array): Promise<PageParts> {
    const { repetitionBytes, levelBytes, pageBytes, isCompressed } = header;
    const levels = stored.subarray(repetitionBytes, levelBytes);
    const rest = stored.subarray(levelBytes);
    const codec = isCompressed ? this.#chunk.codec : 0;
    const bytes = await decompress(codec, rest, pageBytes - levelBytes);
    return { levels: this.#column.isOptional ? levels : undefined, bytes };
  }

  #splitOldPage(page: Uint8Array): PageParts {
    if (!this.#column.isOptional) return { levels: undefined, bytes: page };
    const reader = new ByteReader(page);
    const levels = reader.take(reader.uint32());
    return { levels, bytes: page.subarray(reader.at) };
  }
}

/** Approximate memory of a decoded value besides its text. */
const dictionaryValueBytes = 32;

interface PageParts {
  /** Which values are present, as runs; undefined if all are. */
  readonly levels: Uint8Array | undefined;
  readonly bytes: Uint8Array;
}
