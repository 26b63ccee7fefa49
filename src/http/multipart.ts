import { fail, ok, type Result } from "../core/result.ts";
import { TextBytes } from "../core/text-bytes.ts";

/** One part of a multipart/mixed body. Header names are lower case in `headers`. */
export interface Part {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Name, value, name, value … in the client's own spelling and order. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

export interface MultipartLimits {
  /** More parts than this are refused before they are looked at. */
  readonly partsMax: number;
}

export const partHeadersMax = 64;
export const boundaryUnitsMax = 70;
const headerBlockBytesMax = 64 * 1024;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const boundaryForm = /^multipart\/mixed\s*;(?:[^"]*;)?\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i;

/** The boundary a `multipart/mixed` content type names; undefined for any other type. */
export function boundaryOf(contentType: string): string | undefined {
  const match = boundaryForm.exec(contentType.trim());
  const boundary = match?.[1] ?? match?.[2];
  return boundary === undefined || boundary.length > boundaryUnitsMax ? undefined : boundary;
}

/** Splits a body at its boundary. Strict: a body without a closing delimiter was cut off. Lines
 *  may end in a bare line feed, as some old clients send them. */
export function parseMultipart(
  bytes: Uint8Array,
  boundary: string,
  { partsMax }: MultipartLimits,
): Result<readonly Part[]> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts: Part[] = [];
  const mark = Buffer.from(`--${boundary}`, "latin1");
  const blocks: HeaderBlocks = new Map();
  let delimiter = nextDelimiter(body, mark, 0);
  while (delimiter !== undefined && !delimiter.closes) {
    const next = nextDelimiter(body, mark, delimiter.after);
    if (next === undefined) break;
    if (parts.length >= partsMax) return malformed(`more than ${partsMax} parts`);
    const end = Math.max(delimiter.after, next.before);
    const part = parsePart(body.subarray(delimiter.after, end), blocks);
    if (!part.ok) return part;
    parts.push(part.value);
    delimiter = next;
  }
  return delimiter?.closes === true ? ok(parts) : malformed("no closing boundary");
}

interface Delimiter {
  /** Where the part before it ends: the line break in front belongs to the delimiter. */
  readonly before: number;
  readonly after: number;
  readonly closes: boolean;
}

function nextDelimiter(body: Buffer, mark: Buffer, from: number): Delimiter | undefined {
  let at = body.indexOf(mark, from);
  for (; at >= 0; at = body.indexOf(mark, at + 1)) {
    if (at !== 0 && body[at - 1] !== lineFeed) continue;
    const closes = body[at + mark.length] === 0x2d && body[at + mark.length + 1] === 0x2d;
    const after = lineEnd(body, at + mark.length + (closes ? 2 : 0));
    if (after === undefined) continue;
    const feed = at === 0 ? 0 : body[at - 2] === carriageReturn ? 2 : 1;
    return { before: at - feed, after, closes };
  }
  return undefined;
}

/** The start of the next line, if nothing but blanks is left on this one. */
function lineEnd(body: Buffer, from: number): number | undefined {
  let at = from;
  while (body[at] === 0x20 || body[at] === 0x09) at += 1;
  if (at >= body.length) return at;
  if (body[at] === carriageReturn) at += 1;
  return body[at] === lineFeed ? at + 1 : undefined;
}

function parsePart(bytes: Buffer, blocks: HeaderBlocks): Result<Part> {
  const head = parseHeaders(bytes, 0, blocks);
  if (!head.ok) return head;
  const { headers, rawHeaders, after } = head.value;
  return ok({ headers, rawHeaders, body: bytes.subarray(after) });
}

interface HeaderLines {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
}

export interface HeaderBlock extends HeaderLines {
  /** Where the body starts. */
  readonly after: number;
}

/** What was read before, by its text: the parts of one body repeat each other. */
export type HeaderBlocks = Map<string, HeaderLines>;

const headerForm = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;

/** Header lines up to the empty one; a block that the bytes end in counts as closed. */
export function parseHeaders(
  bytes: Buffer,
  from: number,
  known?: HeaderBlocks,
): Result<HeaderBlock> {
  const { end, after } = headerBlock(bytes, from);
  if (end - from > headerBlockBytesMax) return malformed("the headers are too long");
  const text = bytes.toString("utf8", from, end);
  let block = known?.get(text);
  if (block === undefined) {
    const parsed = parseLines(text);
    if (!parsed.ok) return parsed;
    block = parsed.value;
    known?.set(text, block);
  }
  return ok({ headers: block.headers, rawHeaders: block.rawHeaders, after });
}

function parseLines(text: string): Result<HeaderLines> {
  const headers: Record<string, string | undefined> = Object.create(null) as typeof headers;
  const rawHeaders: string[] = [];
  const lines = text === "" ? [] : text.split("\n");
  if (lines.length > partHeadersMax) return malformed(`more than ${partHeadersMax} headers`);
  for (const line of lines) {
    const match = headerForm.exec(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (match === null) return malformed("a header line has no name");
    const [, name = "", value = ""] = match;
    headers[name.toLowerCase()] ??= value;
    rawHeaders.push(name, value);
  }
  return ok({ headers, rawHeaders });
}

/** Where the lines end, and where what follows the empty one starts. */
function headerBlock(bytes: Buffer, from: number): { end: number; after: number } {
  for (let at = from; at < bytes.length;) {
    const feed = bytes.indexOf(lineFeed, at);
    const isEmpty = feed === at || (feed === at + 1 && bytes[at] === carriageReturn);
    if (isEmpty) return { end: Math.max(from, at - 1), after: feed + 1 };
    if (feed < 0) break;
    at = feed + 1;
  }
  const isEnded = bytes.at(-1) === lineFeed;
  return { end: Math.max(from, bytes.length - (isEnded ? 1 : 0)), after: bytes.length };
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

export interface RenderedPart {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

const crlf = "\r\n";

/** The body of a multipart/mixed answer. */
export function renderMultipart(boundary: string, parts: readonly RenderedPart[]): Uint8Array {
  const out = new TextBytes();
  writeMultipart(out, boundary, parts);
  return out.bytes();
}

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
