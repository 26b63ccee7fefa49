import { oneChunk } from "../../content/content.ts";
import { STATUS_CODES } from "node:http";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { headerLines, parseHeaders, readLine, type Part, type RenderedPart } from "./multipart.ts";
import { bufferBody, type WireResponse, type WireRequest } from "../wire.ts";

/** HTTP requests and responses inside a multipart body (`application/http`), as Blob Batch and
 *  table transactions have them. */

/** A request in an `application/http` part of a batch or transaction. */
interface EmbeddedRequest {
  readonly method: string;
  /** The request target as sent: a path or an absolute URL. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

const requestLineForm = /^([A-Za-z]+) (\S+) HTTP\/1\.[01]$/;
const requestLineUnitsMax = 16 * 1024;

export function parseEmbeddedRequest(part: Part): Result<EmbeddedRequest> {
  const bytes = Buffer.from(part.body.buffer, part.body.byteOffset, part.body.length);
  const { line, after } = readLine(bytes, 0);
  const match = line.length > requestLineUnitsMax ? null : requestLineForm.exec(line.trim());
  if (match === null) return fail("InvalidInput");
  const block = parseHeaders(bytes, after);
  if (!block.ok) return block;
  const [, method = "", target = ""] = match;
  const { headers, rawHeaders } = block.value;
  const body = bodyWithin(bytes.subarray(block.value.after), headers["content-length"]);
  if (body === undefined) return fail("InvalidInput");
  return ok({ method: method.toUpperCase(), target, headers, rawHeaders, body });
}

/** The body of a part; undefined if its Content-Length exceeds the part. The Content-Length
 *  excludes the line break that some clients add; without one, line breaks alone are no body. */
export function bodyWithin(rest: Uint8Array, length: string | undefined): Uint8Array | undefined {
  if (length === undefined)
    return rest.every((byte) => byte === 0x0d || byte === 0x0a) ? rest.subarray(0, 0) : rest;
  if (!/^\d{1,10}$/.test(length) || Number(length) > rest.length) return undefined;
  return rest.subarray(0, Number(length));
}

/** Converts a part to a request for the pipeline. The part has the host, TLS state and client
 *  address of the batch, and its `x-ms-version` unless the part has one. No other header is
 *  inherited, in particular not Authorization. */
export function partRequestOf(embedded: EmbeddedRequest, batch: WireRequest): WireRequest {
  const { method, target, headers, rawHeaders, body } = embedded;
  const inherited = {
    // An absolute URL contains a host, too; the host of the batch is used.
    host: batch.headers["host"],
    "x-ms-version": headers["x-ms-version"] ?? batch.headers["x-ms-version"],
    "content-length": String(body.length),
  };
  return {
    method,
    target,
    headers: { ...headers, ...inherited },
    rawHeaders,
    body: oneChunk(body),
    whole: body,
    secure: batch.secure,
    remoteAddress: batch.remoteAddress,
    isPart: true,
    span: batch.span,
    proceed: () => {},
  };
}

/** Renders a response as an `application/http` part with these part headers. */
export function renderEmbeddedReply(
  reply: WireResponse,
  headers: Readonly<Record<string, string>>,
): RenderedPart {
  if (reply.body?.kind === "stream") throw new Error("a sub-response must not be a stream");
  const reason = reply.reason ?? STATUS_CODES[reply.status] ?? "";
  const start = `HTTP/1.1 ${reply.status} ${reason}\r\n${headerLines(reply.headers)}\r\n`;
  const content = reply.body === undefined ? "" : bufferBody(reply.body);
  const body =
    typeof content === "string" ? start + content : Buffer.concat([Buffer.from(start), content]);
  return { headers, body };
}
