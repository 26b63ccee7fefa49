import { invalidHeader } from "./faults.ts";
import { fail, ok, type Result } from "./result.ts";
import { boolean, header, type Param } from "./params.ts";

/** Parses the byte ranges in headers of reads and writes of blobs and files. */

/** A byte range as requested; without `last` it extends to the end. */
export interface ByteRange {
  readonly first: number;
  readonly last?: number;
}

/** A part of existing content, in bytes. */
export interface Span {
  readonly from: number;
  readonly length: number;
}

/** Up to 19 digits: clients send the largest 64-bit number for "to the end". */
const rangePattern = /^bytes=(\d{1,19})-(\d{1,19})?$/i;

/** Parses `bytes=a-` or `bytes=a-b`; undefined for any other text. Reads ignore other texts. */
export function parseReadRange(text: string): ByteRange | undefined {
  const found = rangePattern.exec(text.trim());
  if (found === null) return undefined;
  const first = Number(found[1]);
  if (found[2] === undefined) return { first };
  const last = Number(found[2]);
  return last < first ? undefined : { first, last };
}

/** The part of a range that is inside the content. Undefined if there is none, also for an empty
 *  content: 416 InvalidRange. */
export function clipRange({ first, last }: ByteRange, length: number): Span | undefined {
  if (first >= length) return undefined;
  const end = last === undefined ? length : Math.min(last + 1, length);
  return { from: first, length: end - first };
}

/** Parses the range of a write, which must have both ends; the fault names the header. */
export function parseWriteRange(headerName: string, text: string): Result<Span> {
  const range = parseReadRange(text);
  if (range?.last === undefined || !Number.isSafeInteger(range.last)) {
    return invalidHeader(headerName, text);
  }
  return ok({ from: range.first, length: range.last - range.first + 1 });
}

/** Page blobs are read and written in pages of this size. */
export const pageBytes = 512;

/** Parses the range of Put Page, which must consist of whole pages. Does not check the length of
 *  the blob. */
export function parsePageRange(headerName: string, text: string): Result<Span> {
  const parsed = parseWriteRange(headerName, text);
  if (!parsed.ok) return parsed;
  const { from, length } = parsed.value;
  return from % pageBytes === 0 && length % pageBytes === 0
    ? parsed
    : invalidHeader(headerName, text);
}

const md5 = header("x-ms-range-get-content-md5", boolean);
const crc64 = header("x-ms-range-get-content-crc64", boolean);

/** The checksum of the returned range that the request asks for. Only one kind is allowed;
 *  undefined for none. */
export const rangeChecksum: Param<"md5" | "crc64" | undefined> = {
  sources: [...md5.sources, ...crc64.sources],
  parse: (reader) => {
    const wantsMd5 = md5.parse(reader);
    if (!wantsMd5.ok) return wantsMd5;
    const wantsCrc64 = crc64.parse(reader);
    if (!wantsCrc64.ok) return wantsCrc64;
    if (wantsMd5.value === true && wantsCrc64.value === true) {
      return fail("BothCrc64AndMd5RangeHeaderPresent");
    }
    return ok(wantsMd5.value === true ? "md5" : wantsCrc64.value === true ? "crc64" : undefined);
  },
};
