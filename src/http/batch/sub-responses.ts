import { STATUS_CODES } from "node:http";
import { byteOrderMark, xmlDeclaration } from "../../encoding/xml-writer.ts";
import { headerLines } from "../multipart.ts";
import { bufferBody, type WireResponse } from "../wire.ts";

const crlf = "\r\n";

/** Headers that follow those of the operation; this is their order in all recorded
 *  sub-responses. */
const trailingNames = [
  "x-ms-request-id",
  "x-ms-version",
  "x-ms-client-request-id",
  "Content-Length",
  "Content-Type",
  "Server",
] as const;

/** Renders one sub-response of a Blob Batch, without boundaries. It has no date, and no length if
 *  it has no body. */
export function renderSubResponse(reply: WireResponse, contentId: string | undefined): Uint8Array {
  if (reply.body?.kind === "stream") throw new Error("a sub-response must not be a stream");
  const content = reply.body === undefined ? "" : bufferBody(reply.body);
  const body = withLineBreak(Buffer.from(content));
  const { Date: _date, "Content-Length": _length, ...rest } = reply.headers;
  const named: Record<string, string> = { ...rest };
  if (body.length > 0) named["Content-Length"] = String(body.length);
  const headers: Record<string, string> = {};
  for (const name in named) if (!isTrailing(name)) headers[name] = named[name]!;
  for (const name of trailingNames) {
    const value = named[name];
    if (value !== undefined) headers[name] = value;
  }
  const around = contentId === undefined ? "" : `Content-ID: ${contentId}${crlf}`;
  const reason = reply.reason ?? STATUS_CODES[reply.status] ?? "";
  const start =
    `Content-Type: application/http${crlf}${around}${crlf}` +
    `HTTP/1.1 ${reply.status} ${reason}${crlf}${headerLines(headers)}${crlf}`;
  return body.length === 0 ? Buffer.from(start) : Buffer.concat([Buffer.from(start), body, ending]);
}

const ending = Buffer.from(crlf);

function isTrailing(name: string): boolean {
  return (trailingNames as readonly string[]).includes(name);
}

const declaration = Buffer.from(byteOrderMark + xmlDeclaration);

/** In a batch, the service writes a line feed after the XML declaration (all 23 recorded
 *  faults). */
function withLineBreak(body: Buffer): Buffer {
  const isXml = body.subarray(0, declaration.length).equals(declaration);
  if (!isXml) return body;
  return Buffer.concat([declaration, Buffer.from("\n"), body.subarray(declaration.length)]);
}

/** Renders the body of the response to a batch. The empty line that ends the headers of a
 *  sub-response without a body is also the line break before the next boundary, because the Java
 *  client library counts the lines. There is no line break after the last boundary. */
export function renderSubResponses(boundary: string, parts: readonly Uint8Array[]): Uint8Array {
  const delimiter = Buffer.from(`--${boundary}${crlf}`);
  const chunks = parts.flatMap((part) => [delimiter, part]);
  return Buffer.concat([...chunks, Buffer.from(`--${boundary}--`)]);
}
