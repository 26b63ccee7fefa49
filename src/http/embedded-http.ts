import { STATUS_CODES } from "node:http";
import { fail, ok, type Result } from "../protocol/result.ts";
import { headerLines, parseHeaders, readLine, type Part, type RenderedPart } from "./multipart.ts";
import { bufferBody, type WireResponse, type WireRequest } from "./wire.ts";

/** A request inside an `application/http` part: what a batch runs through the pipeline. */
export interface EmbeddedRequest {
  readonly method: string;
  /** As written: a path, or an absolute address. */
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

/** A stated length ends the body before the line break some clients add; undefined if it lies. */
export function bodyWithin(rest: Uint8Array, length: string | undefined): Uint8Array | undefined {
  if (length === undefined) return rest;
  if (!/^\d{1,10}$/.test(length) || Number(length) > rest.length) return undefined;
  return rest.subarray(0, Number(length));
}

/** The part as the pipeline takes it; what it does not say of itself, the batch says for it. */
export function wireRequestOf(embedded: EmbeddedRequest, batch: WireRequest): WireRequest {
  const { method, target, headers, rawHeaders, body } = embedded;
  const said = {
    // Absolute addresses name the host once more; what counts is where the batch was sent.
    host: batch.headers["host"],
    "x-ms-version": headers["x-ms-version"] ?? batch.headers["x-ms-version"],
    "content-length": String(body.length),
  };
  return {
    method,
    target,
    headers: { ...headers, ...said },
    rawHeaders,
    body: once(body),
    whole: body,
    secure: batch.secure,
    remoteAddress: batch.remoteAddress,
    proceed: () => {},
  };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

/** An answer as an `application/http` part. `headers` are those of the part around it. */
export function renderEmbeddedReply(
  reply: WireResponse,
  headers: Readonly<Record<string, string>>,
): RenderedPart {
  if (reply.body?.kind === "stream") throw new Error("a batch answers no streams");
  const reason = reply.reason ?? STATUS_CODES[reply.status] ?? "";
  const start = `HTTP/1.1 ${reply.status} ${reason}\r\n${headerLines(reply.headers)}\r\n`;
  const held = reply.body === undefined ? "" : bufferBody(reply.body);
  const body = typeof held === "string" ? start + held : Buffer.concat([Buffer.from(start), held]);
  return { headers, body };
}
