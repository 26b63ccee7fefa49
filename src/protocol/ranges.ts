import { invalidHeader } from "./faults.ts";
import { ok, type Result } from "./result.ts";

/** A range as requested; without `last` it extends to the end. */
export interface ByteRange {
  readonly first: number;
  readonly last?: number;
}

/** A range inside an existing content. */
export interface Span {
  readonly from: number;
  readonly length: number;
}

/** 19 digits: clients send the largest 64-bit number for "to the end". */
const rangeForm = /^bytes=(\d{1,19})-(\d{1,19})?$/i;

/** Accepts only `bytes=a-` and `bytes=a-b`; reads ignore everything else. */
export function parseReadRange(text: string): ByteRange | undefined {
  const found = rangeForm.exec(text.trim());
  if (found === null) return undefined;
  const first = Number(found[1]);
  if (found[2] === undefined) return { first };
  const last = Number(found[2]);
  return last < first ? undefined : { first, last };
}

/** Undefined if the range is outside the content: 416 InvalidRange, also for an empty one. */
export function clipRange({ first, last }: ByteRange, length: number): Span | undefined {
  if (first >= length) return undefined;
  const end = last === undefined ? length : Math.min(last + 1, length);
  return { from: first, length: end - first };
}

/** Writes need both ends. */
export function parseWriteRange(headerName: string, text: string): Result<Span> {
  const range = parseReadRange(text);
  if (range?.last === undefined || !Number.isSafeInteger(range.last)) {
    return invalidHeader(headerName, text);
  }
  return ok({ from: range.first, length: range.last - range.first + 1 });
}

export const pageBytes = 512;

/** A range of full pages for Put Page. Does not check the length of the blob. */
export function parsePageRange(headerName: string, text: string): Result<Span> {
  const parsed = parseWriteRange(headerName, text);
  if (!parsed.ok) return parsed;
  const { from, length } = parsed.value;
  return from % pageBytes === 0 && length % pageBytes === 0
    ? parsed
    : invalidHeader(headerName, text);
}
