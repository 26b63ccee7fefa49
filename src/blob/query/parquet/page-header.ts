import { ByteReader, ParquetError } from "./byte-reader.ts";
import { intOf, readStruct, structOf, type ThriftStruct } from "./thrift.ts";

/** The head of a page: a dictionary, or values of one column. */
export interface PageHeader {
  readonly kind: "dictionary" | "data" | "data-2" | "other";
  /** Bytes of the header itself, and of the page that follows it. */
  readonly headerBytes: number;
  readonly storedBytes: number;
  readonly pageBytes: number;
  /** Including nulls. */
  readonly valueCount: number;
  readonly encoding: number;
  /** Bytes of the levels at the start of a page of version 2, which are not compressed. */
  readonly levelBytes: number;
  readonly repetitionBytes: number;
  readonly isCompressed: boolean;
}

/** Limit of this server for one page; writers make pages of about 1 MiB. */
export const pageBytesMax = 16 * 1024 * 1024;
/** Limit of this server: a page of repeated values has many of them in a few bytes. */
const pageValuesMax = 16 * 1024 * 1024;
/** Limit of this server for a dictionary, whose values are all decoded. */
const dictionaryValuesMax = 1024 * 1024;

const kinds = ["data", "other", "dictionary", "data-2"] as const;

/** Parses the header at the start of the bytes. Throws `ParquetError` if they do not suffice. */
export function readPageHeader(bytes: Uint8Array): PageHeader {
  const reader = new ByteReader(bytes);
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
