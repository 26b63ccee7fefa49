import { fail, ok, type Result } from "../../protocol/result.ts";
import type { TextBytes } from "../../encoding/text-bytes.ts";

/** Parses and writes `multipart/mixed` bodies (RFC 2046) of Blob Batch and table transactions. */

/** Parsed header lines; names in `headers` are lower case. */
interface HeaderLines {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Names and values alternating, in the client's spelling and order. */
  readonly rawHeaders: readonly string[];
}

/** One part of a multipart body: its headers, and the range of its content, which is not copied. */
export class Part implements HeaderLines {
  readonly headers: HeaderLines["headers"];
  readonly rawHeaders: HeaderLines["rawHeaders"];
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;

  constructor({ headers, rawHeaders }: HeaderLines, bytes: Buffer, from = 0, to = bytes.length) {
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.bytes = bytes;
    this.from = from;
    this.to = to;
  }

  get body(): Buffer {
    return this.bytes.subarray(this.from, this.to);
  }
}

interface MultipartLimits {
  /** More parts are a fault, unless `stopsAtMax`. */
  readonly partsMax: number;
  /** Whether parsing stops after `partsMax` parts instead of rejecting the body. */
  readonly stopsAtMax?: true;
}

/** Most header lines of a part. */
export const partHeadersMax = 64;
/** Longest boundary, as RFC 2046 allows. */
const boundaryUnitsMax = 70;
const headerBlockBytesMax = 64 * 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const boundaryForm = /^multipart\/mixed\s*;(?:[^"]*;)?\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i;

/** The boundary of a `multipart/mixed` content type; undefined for other types. */
export function boundaryOf(contentType: string): string | undefined {
  const match = boundaryForm.exec(contentType.trim());
  const boundary = match?.[1] ?? match?.[2];
  return boundary === undefined || boundary.length > boundaryUnitsMax ? undefined : boundary;
}

/** Splits a body at its boundary. A body without the closing delimiter is rejected as truncated.
 *  Lines may end in a bare line feed, as old clients send them. */
export function parseMultipart(
  bytes: Uint8Array,
  boundary: string,
  { partsMax, stopsAtMax }: MultipartLimits,
): Result<readonly Part[]> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts: Part[] = [];
  const mark = Buffer.from(`--${boundary}`, "latin1");
  let recent: RecentBlock | undefined;
  let delimiter = nextDelimiter(body, mark, 0);
  while (delimiter !== undefined && !delimiter.closes) {
    const next = nextDelimiter(body, mark, delimiter.after);
    if (next === undefined) break;
    if (parts.length >= partsMax) {
      return stopsAtMax === true ? ok(parts) : malformed(`more than ${partsMax} parts`);
    }
    const from = delimiter.after;
    const to = Math.max(from, next.before);
    if (recent === undefined || !holdsAt(body, recent.bytes, from, to)) {
      const block = parseHeaders(body.subarray(from, to), 0);
      if (!block.ok) return block;
      recent = { block: block.value, bytes: body.subarray(from, from + block.value.after) };
    }
    parts.push(new Part(recent.block, body, from + recent.bytes.length, to));
    // A header block can be reused for the next part only if an empty line ends it. Otherwise it
    // depends on the bytes that follow.
    if (!recent.block.isClosed) recent = undefined;
    delimiter = next;
  }
  return delimiter?.closes === true ? ok(parts) : malformed("no closing boundary");
}

/** A delimiter line, which separates two parts. */
interface Delimiter {
  /** Where the preceding part ends: the line break before the delimiter is a part of it. */
  readonly before: number;
  readonly after: number;
  readonly closes: boolean;
}

/** Most lines of a body that begin like a delimiter without being one. It bounds the time for a
 *  body made of them. */
const falseMarksMax = 65_536;

function nextDelimiter(body: Buffer, mark: Buffer, from: number): Delimiter | undefined {
  let at = body.indexOf(mark, from);
  for (
    let looks = 0;
    at >= 0 && looks < falseMarksMax;
    looks += 1, at = body.indexOf(mark, at + 1)
  ) {
    if (at !== 0 && body[at - 1] !== lineFeed) continue;
    const closes = body[at + mark.length] === 0x2d && body[at + mark.length + 1] === 0x2d;
    const after = lineEnd(body, at + mark.length + (closes ? 2 : 0));
    if (after === undefined) continue;
    const feed = at === 0 ? 0 : body[at - 2] === carriageReturn ? 2 : 1;
    return { before: at - feed, after, closes };
  }
  return undefined;
}

/** The start of the next line if the rest of this line is blank; otherwise undefined. */
function lineEnd(body: Buffer, from: number): number | undefined {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x09) at += 1;
  if (at >= body.length) return at;
  if (body[at] === carriageReturn) at += 1;
  return body[at] === lineFeed ? at + 1 : undefined;
}

/** The last parsed header block. The parts of a body usually have equal header blocks. */
interface RecentBlock {
  readonly block: HeaderBlock;
  /** The bytes of the block, up to the start of the body. */
  readonly bytes: Buffer;
}

/** Whether `body` contains `bytes` at `from`, before `to`: whether the head of a part equals a
 *  known one, which need not be parsed again. */
export function holdsAt(body: Buffer, bytes: Buffer, from: number, to: number): boolean {
  const { length } = bytes;
  return from + length <= to && body.compare(bytes, 0, length, from, from + length) === 0;
}

interface HeaderBlock extends HeaderLines {
  /** Offset at which the body starts. */
  readonly after: number;
  /** Whether an empty line ends the block; otherwise the bytes end with it. */
  readonly isClosed: boolean;
}

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Characters that HTTP does not allow in a header line. Some values are returned in the response,
 *  where a carriage return would start a line of its own. */
// oxlint-disable-next-line no-control-regex
const notInHeaders = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n|$)/;

/** Parses header lines from an offset to the first empty line, or to the end of the bytes. */
export function parseHeaders(bytes: Buffer, from: number): Result<HeaderBlock> {
  const { end, after, isClosed } = headerBlock(bytes, from);
  if (end - from > headerBlockBytesMax) return malformed("the headers are too long");
  const lines = parseLines(bytes.toString("utf8", from, end));
  return lines.ok ? ok({ ...lines.value, after, isClosed }) : lines;
}

function parseLines(text: string): Result<HeaderLines> {
  const headers: Record<string, string | undefined> = Object.create(null) as typeof headers;
  const rawHeaders: string[] = [];
  const lines = text === "" ? [] : text.split("\n");
  if (lines.length > partHeadersMax) return malformed(`more than ${partHeadersMax} headers`);
  if (notInHeaders.test(text)) return malformed("a header line has a control character");
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    if (!headerName.test(name)) return malformed("a header line has no name");
    const value = withoutBlanks(line.endsWith("\r") ? line.slice(0, -1) : line, colon + 1);
    headers[name.toLowerCase()] ??= value;
    rawHeaders.push(name, value);
  }
  return ok({ headers, rawHeaders });
}

/** A line without surrounding blanks. A regular expression would take quadratic time for a long run
 *  of blanks. */
function withoutBlanks(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isBlank(line.charCodeAt(start))) start += 1;
  while (end > start && isBlank(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

interface BlockEnd {
  readonly end: number;
  readonly after: number;
  readonly isClosed: boolean;
}

/** Finds the end of the header lines and the start of the body. */
function headerBlock(bytes: Buffer, from: number): BlockEnd {
  for (let at = from; at < bytes.length;) {
    const feed = bytes.indexOf(lineFeed, at);
    const isEmpty = feed === at || (feed === at + 1 && bytes[at] === carriageReturn);
    if (isEmpty) return { end: Math.max(from, at - 1), after: feed + 1, isClosed: true };
    if (feed < 0) break;
    at = feed + 1;
  }
  const isEnded = bytes.at(-1) === lineFeed;
  const end = Math.max(from, bytes.length - (isEnded ? 1 : 0));
  return { end, after: bytes.length, isClosed: false };
}

export function readLine(bytes: Buffer, from: number): { line: string; after: number } {
  const feed = bytes.indexOf(lineFeed, from);
  if (feed < 0) return { line: bytes.toString("utf8", from), after: bytes.length };
  const end = feed > from && bytes[feed - 1] === carriageReturn ? feed - 1 : feed;
  return { line: bytes.toString("utf8", from, end), after: feed + 1 };
}

function malformed(detail: string): Result<never> {
  return fail("InvalidInput", { message: `The multipart body is malformed: ${detail}.` });
}

/** A part of a response: its part headers, and a complete response as its body. */
export interface RenderedPart {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

const crlf = "\r\n";

export function writeMultipart(
  out: TextBytes,
  boundary: string,
  parts: readonly RenderedPart[],
): void {
  for (const { headers, body } of parts) {
    out.append(`--${boundary}${crlf}${headerLines(headers)}${crlf}`);
    if (typeof body === "string") out.append(body);
    else out.appendBytes(body, 0, body.length);
    out.append(crlf);
  }
  out.append(`--${boundary}--${crlf}`);
}

export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const name in headers) lines += `${name}: ${headers[name]}${crlf}`;
  return lines;
}
