import { invalidHeader } from "./faults.ts";
import { ok, type Result } from "./result.ts";

/** As a client asks for it; without `last` it goes to the end, whatever that is. */
export interface ByteRange {
  readonly first: number;
  readonly last?: number;
}

/** A stretch of bytes that is known to be there. */
export interface Span {
  readonly from: number;
  readonly length: number;
}

/** Larger than any resource; clients send the largest 64-bit number for "to the end". */
const rangeForm = /^bytes=(\d{1,19})-(\d{1,19})?$/i;

/** Only `bytes=a-` and `bytes=a-b`; everything else is ignored by reads, as if it were absent. */
export function parseReadRange(text: string): ByteRange | undefined {
  const found = rangeForm.exec(text.trim());
  if (found === null) return undefined;
  const first = Number(found[1]);
  if (found[2] === undefined) return { first };
  const last = Number(found[2]);
  return last < first ? undefined : { first, last };
}

/** `undefined` if nothing of it lies inside, which is 416 InvalidRange even when empty. */
export function clipRange({ first, last }: ByteRange, length: number): Span | undefined {
  if (first >= length) return undefined;
  const end = last === undefined ? length : Math.min(last + 1, length);
  return { from: first, length: end - first };
}

/** For writes both ends are needed, and neither is guessed. */
export function parseWriteRange(headerName: string, text: string): Result<Span> {
  const range = parseReadRange(text);
  if (range?.last === undefined || !Number.isSafeInteger(range.last)) {
    return invalidHeader(headerName, text);
  }
  return ok({ from: range.first, length: range.last - range.first + 1 });
}

export const pageBytes = 512;

/** A range for Put Page: whole pages. Whether the blob is that long is another question. */
export function parsePageRange(headerName: string, text: string): Result<Span> {
  const parsed = parseWriteRange(headerName, text);
  if (!parsed.ok) return parsed;
  const { from, length } = parsed.value;
  return from % pageBytes === 0 && length % pageBytes === 0
    ? parsed
    : invalidHeader(headerName, text);
}
