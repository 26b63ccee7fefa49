import type { RequestInfo, Dialect, RenderedFault } from "../operation/dialect.ts";
import { formatHttpDate, formatIso } from "../base/dates.ts";
import { formatETag } from "../protocol/etag.ts";
import { faultMessage, faultStatus, type Fault } from "../protocol/faults.ts";
import type { Ticks } from "../base/ticks.ts";
import { byteOrderMark, escapeText, xmlDeclaration } from "../encoding/xml-writer.ts";
import type { Outcome } from "../operation/execute.ts";
import { transformed } from "./transformed.ts";
import type { WireBody, WireResponse } from "./wire.ts";

/** What a response is rendered from besides the outcome: values of the common headers, and what the
 *  request and its dialect require. */
export interface Envelope {
  readonly requestId: string;
  readonly clientRequestId: string | undefined;
  readonly version: string | undefined;
  readonly server: string;
  readonly wallNow: Ticks;
  /** Whether the method is HEAD. */
  readonly head: boolean;
  readonly dialect?: Dialect | undefined;
  /** The request, for faults that the dialect renders. */
  readonly requestInfo?: RequestInfo;
}

export function commonHeaders(envelope: Envelope): Record<string, string> {
  const headers: Record<string, string> = {
    Server: envelope.server,
    "x-ms-request-id": envelope.requestId,
  };
  if (envelope.clientRequestId !== undefined) {
    headers["x-ms-client-request-id"] = envelope.clientRequestId;
  }
  if (envelope.version !== undefined) headers["x-ms-version"] = envelope.version;
  headers["Date"] = formatHttpDate(envelope.wallNow);
  return headers;
}

function operationOf({ requestInfo }: Envelope): string | undefined {
  return requestInfo?.operation?.name;
}

export function renderOutcome(outcome: Outcome, envelope: Envelope): WireResponse {
  switch (outcome.kind) {
    case "fault":
      return renderFault(outcome.fault, envelope);
    case "not-modified":
      return renderNotModified(envelope);
    case "reply":
      return renderReply(outcome, envelope);
    default:
      return outcome satisfies never;
  }
}

function renderReply(
  outcome: Extract<Outcome, { kind: "reply" }>,
  envelope: Envelope,
): WireResponse {
  const headers = commonHeaders(envelope);
  if (outcome.etag !== undefined) {
    Object.assign(headers, etagHeaders(outcome.etag, envelope));
  }
  for (const group of outcome.headers) {
    for (const name in group) {
      const value = group[name];
      if (value !== undefined) headers[name] = value;
    }
  }
  for (const [name, value] of outcome.metadata ?? []) headers[`x-ms-meta-${name}`] = value;
  const body = bodyWithHeaders(outcome, headers);
  return {
    status: outcome.status,
    headers,
    body: envelope.head ? withoutBody(body) : body,
    operation: operationOf(envelope),
  };
}

function etagHeaders(etag: Ticks, { dialect }: Envelope): Readonly<Record<string, string>> {
  if (dialect !== undefined) return dialect.etagHeaders(etag);
  return { ETag: formatETag(etag), "Last-Modified": formatHttpDate(etag) };
}

/** A response to HEAD has the headers of GET and no body. Frees the body. */
function withoutBody(body: WireBody | undefined): undefined {
  if (body?.kind === "stream") body.reader.close();
  if (body?.kind === "paged") body.paged.release();
  return undefined;
}

/** Returns the body, and sets Content-Length and Content-Type in `headers`. */
function bodyWithHeaders(
  { body, reader }: Extract<Outcome, { kind: "reply" }>,
  headers: Record<string, string>,
): WireBody | undefined {
  if (body === undefined) {
    headers["Content-Length"] ??= "0";
    return undefined;
  }
  if ("content" in body) {
    if (body.transform !== undefined) {
      const passed = transformed(body.content, reader, body.transform);
      const { transformedLength } = body;
      if (transformedLength !== undefined) headers["Content-Length"] = String(transformedLength);
      return { kind: "stream", reader: passed, ...span(body) };
    }
    headers["Content-Length"] = String(body.length);
    if (reader !== undefined) return { kind: "stream", reader, ...span(body) };
    // Without a reader the content is inline: a reader is opened for all other content.
    const bytes = body.content.kind === "inline" ? body.content.bytes : new Uint8Array(0);
    return { kind: "bytes", bytes: bytes.subarray(body.from, body.from + body.length) };
  }
  if ("batch" in body) throw new Error("the parts of a batch were not executed");
  headers["Content-Type"] = body.type;
  if ("paged" in body) {
    headers["Content-Length"] = String(body.paged.length);
    return { kind: "paged", paged: body.paged };
  }
  const bytes = "text" in body ? Buffer.from(body.text, "utf8") : body.bytes;
  headers["Content-Length"] = String(bytes.length);
  return { kind: "bytes", bytes };
}

function span({ from, length }: { from: number; length: number }) {
  return { from, length };
}

/** As recorded from Azure, a 304 has `x-ms-error-code`, but neither ETag nor Last-Modified. */
function renderNotModified(envelope: Envelope): WireResponse {
  const headers = commonHeaders(envelope);
  headers["x-ms-error-code"] = "ConditionNotMet";
  return { status: 304, headers, body: undefined, operation: operationOf(envelope) };
}

export function renderFault(found: Fault, envelope: Envelope): WireResponse {
  const { dialect, requestInfo } = envelope;
  const fault = dialect?.translate?.(found) ?? found;
  if (dialect !== undefined && requestInfo !== undefined) {
    return renderDialectFault(fault, envelope, dialect.renderFault(fault, requestInfo));
  }
  const status = faultStatus(fault);
  const message = faultMessage(fault);
  const headers = { ...commonHeaders(envelope), ...fault.detail?.headers };
  headers["x-ms-error-code"] = fault.code;
  const operation = operationOf(envelope);
  if (status === 304) return { status, headers, body: undefined, operation };
  const reason = reasonPhrase(message);
  if (envelope.head) return { status, reason, headers, body: undefined, operation };
  const bytes = Buffer.from(faultXml(fault, message, envelope), "utf8");
  headers["Content-Type"] = "application/xml";
  headers["Content-Length"] = String(bytes.length);
  return { status, reason, headers, body: { kind: "bytes", bytes }, operation };
}

function renderDialectFault(
  fault: Fault,
  envelope: Envelope,
  { headers: own, type, text, reason, bare }: RenderedFault,
): WireResponse {
  const shown = bare ? { ...envelope, version: undefined, clientRequestId: undefined } : envelope;
  const headers = { ...commonHeaders(shown), ...fault.detail?.headers, ...own };
  const status = faultStatus(fault);
  const operation = operationOf(envelope);
  const phrase = reason === undefined ? {} : { reason: reasonPhrase(reason) };
  // As recorded from Azure, a fault of HEAD has no Content-Type: with one, a client would try to
  // parse the empty body.
  if (envelope.head) return { status, ...phrase, headers, body: undefined, operation };
  const bytes = Buffer.from(text, "utf8");
  headers["Content-Type"] = type;
  headers["Content-Length"] = String(bytes.length);
  return { status, ...phrase, headers, body: { kind: "bytes", bytes }, operation };
}

/** The reason phrase of the status line: as in Azure, the first line of the fault's message.
 *  Characters that are not allowed in a status line become spaces. */
function reasonPhrase(message: string): string {
  return message.split("\n", 1)[0]!.replaceAll(/[^\x20-\x7e]/g, " ");
}

function faultXml(fault: Fault, message: string, { requestId, wallNow }: Envelope): string {
  const text = `${message}\nRequestId:${requestId}\nTime:${formatIso(wallNow)}`;
  let extra = "";
  for (const [name, value] of Object.entries(fault.detail?.elements ?? {})) {
    extra += `<${name}>${escapeText(value)}</${name}>`;
  }
  const code = `<Code>${fault.code}</Code>`;
  const start = byteOrderMark + xmlDeclaration;
  return `${start}<Error>${code}<Message>${escapeText(text)}</Message>${extra}</Error>`;
}
