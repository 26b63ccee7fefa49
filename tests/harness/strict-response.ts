import { parseXml } from "../../src/encoding/xml.ts";

/** The parts of a raw HTTP response that a strict client parses. */
export interface StrictResponse {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

const statusLine = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e\x80-\xff]*$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\t\x20-\x7e\x80-\xff]*)$/;

/**
 * Parses a response without tolerance: every line of the head has the form of RFC 9112, the body
 * has exactly the announced length, nothing follows it, and XML, JSON and multipart bodies are
 * well-formed. Throws otherwise.
 */
export function parseStrictly(bytes: Buffer, method: string): StrictResponse {
  const { status, headers, rest } = parseHead(bytes);
  if (status < 200) return parseStrictly(rest, method);
  const body = method === "HEAD" ? rest : bodyOf(headers, rest);
  if (method === "HEAD" && rest.length > 0) throw new Error("the response to HEAD has a body");
  if (body.length > 0) checkBody(headers.get("content-type") ?? "", body);
  return { status, headers, body };
}

function parseHead(bytes: Buffer) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) throw new Error(`no end of the head: ${JSON.stringify(bytes.toString("latin1"))}`);
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const status = Number(statusLine.exec(first)?.[1]);
  if (Number.isNaN(status)) throw new Error(`status line: ${JSON.stringify(first)}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? [];
    if (name === undefined) throw new Error(`header line: ${JSON.stringify(line)}`);
    headers.set(name.toLowerCase(), value ?? "");
  }
  return { status, headers, rest: bytes.subarray(end + 4) };
}

function bodyOf(headers: ReadonlyMap<string, string>, rest: Buffer): Buffer {
  if (headers.get("transfer-encoding") === "chunked") return unchunked(rest);
  const length = Number(headers.get("content-length") ?? 0);
  if (rest.length !== length) throw new Error(`${rest.length} bytes instead of ${length}`);
  return rest;
}

function unchunked(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (end < 0 || Number.isNaN(length)) throw new Error("malformed chunk");
    chunks.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
    if (length > 0) continue;
    checkTrailers(bytes.subarray(end + 2));
    return Buffer.concat(chunks);
  }
}

/** Trailers have the form of headers; an empty line ends them, and nothing follows. */
function checkTrailers(bytes: Buffer): void {
  const lines = bytes.toString("latin1").split("\r\n");
  if (lines.pop() !== "" || lines.pop() !== "") throw new Error("bytes after the last chunk");
  const malformed = lines.find((line) => !headerLine.test(line));
  if (malformed !== undefined) throw new Error(`trailer: ${JSON.stringify(malformed)}`);
}

function checkBody(type: string, body: Buffer): void {
  if (/[/+]xml\b/.test(type)) {
    const parsed = parseXml(body);
    if (!parsed.ok) throw new Error(`not well-formed: ${JSON.stringify(body.toString())}`);
  } else if (/\bjson\b/.test(type)) {
    JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } else if (type.startsWith("multipart/")) {
    checkParts(type, body);
  }
}

/** Checks the head of each part, and the response or the nested multipart body in it. */
function checkParts(type: string, body: Buffer): void {
  const boundary = /boundary=([^;\s]+)/.exec(type)?.[1] ?? "";
  const pieces = body.toString("latin1").split(new RegExp(`(?:^|\r\n)--${boundary}(?:--|\r\n)`));
  const [before, ...parts] = pieces;
  if (before !== "") throw new Error("text before the first boundary");
  if ((parts.pop() ?? "").trim() !== "") throw new Error("text after the last boundary");
  if (parts.length === 0) throw new Error("no parts");
  for (const part of parts) checkPart(part);
}

function checkPart(part: string): void {
  const end = part.indexOf("\r\n\r\n");
  const head = part.slice(0, end).split("\r\n");
  for (const line of head) {
    if (!headerLine.test(line)) throw new Error(`part header: ${JSON.stringify(line)}`);
  }
  const inner = Buffer.from(part.slice(end + 4), "latin1");
  const type =
    head
      .find((line) => /^content-type:/i.test(line))
      ?.slice(13)
      .trim() ?? "";
  if (type.startsWith("multipart/")) checkParts(type, inner);
  else checkEmbedded(inner);
}

/** A sub-response; without a body the empty line that ends its head may be missing. */
function checkEmbedded(inner: Buffer): void {
  const text = inner.toString("latin1").replace(/(?:\r\n)+$/, "");
  const { headers, rest } = parseHead(Buffer.from(`${text}\r\n\r\n`, "latin1"));
  const body = rest.toString("latin1").replace(/(?:\r\n)+$/, "");
  if (body !== "") checkBody(headers.get("content-type") ?? "", Buffer.from(body, "latin1"));
}
