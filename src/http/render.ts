import type { Dialect, RenderedFault, RequestInfo } from "../operation/dialect.ts";
import { formatHttpDate, formatIso } from "../base/dates.ts";
import { formatETag } from "../protocol/conditions.ts";
import { faultMessage, faultStatus, type Fault } from "../protocol/faults.ts";
import type { Ticks } from "../base/ticks.ts";
import { byteOrderMark, escapeText, textElement, xmlDeclaration } from "../encoding/xml-writer.ts";
import type { Outcome } from "../operation/execute.ts";
import type { Operation } from "../operation/operation.ts";
import type { WireBody, WireRequest, WireResponse } from "./wire.ts";
import type { ContentRef } from "../content/content-ref.ts";
import type { Transform } from "../operation/reply.ts";
import type { ContentReader } from "../content/content.ts";
import { corsHeaders } from "../protocol/cors.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { HttpService } from "./http-service.ts";
import type { CompletedRequest, RequestContext } from "./request/request-context.ts";
import { structuredHeader } from "./request/body.ts";
import { newGuid } from "../operation/identifiers.ts";
import type { Random } from "../base/world.ts";

/** Renders outcomes of operations as responses: common headers, ETag, body, faults in XML or in the
 *  format of the dialect. Called by `pipeline.ts` for each request, and for the parts of
 *  transactions. */

/** What a response is rendered from besides the outcome: values of the common headers, and the
 *  format that the service's dialect (`operation/dialect.ts`) has for ETags and faults. */
export interface Envelope {
  readonly requestId: string;
  readonly clientRequestId: string | undefined;
  readonly version: string | undefined;
  readonly server: string;
  readonly wallNow: Ticks;
  readonly head: boolean;
  readonly dialect: Dialect | undefined;
  readonly request: WireRequest;
  /** Undefined if the fault occurred before the operation was selected. */
  readonly operation: Operation | undefined;
}

function commonHeaders(envelope: Envelope): Record<string, string> {
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
  if (outcome.etag !== undefined) addETag(headers, outcome.etag, envelope);
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
    operation: envelope.operation?.name,
  };
}

function addETag(headers: Record<string, string>, etag: Ticks, { dialect }: Envelope): void {
  if (dialect !== undefined) {
    Object.assign(headers, dialect.etagHeaders(etag));
    return;
  }
  headers["ETag"] = formatETag(etag);
  headers["Last-Modified"] = formatHttpDate(etag);
}

/** Omits the body of a response to HEAD, which has only the headers of GET, and frees it. */
function withoutBody(body: WireBody | undefined): undefined {
  if (body?.kind === "stream") body.reader.close();
  if (body?.kind === "paged") body.paged.release();
  return undefined;
}

/** Converts the body of a reply for sending. Sets Content-Length and Content-Type in `headers`. */
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
  return { status: 304, headers, body: undefined, operation: envelope.operation?.name };
}

/** Renders a fault: as XML, unless the service has a dialect with another format, as the Table
 *  service has. */
export function renderFault(found: Fault, envelope: Envelope): WireResponse {
  const { dialect } = envelope;
  const fault = dialect?.translate?.(found) ?? found;
  const rendered =
    dialect?.renderFault(fault, requestInfoOf(envelope)) ?? renderXmlFault(fault, envelope);
  const { headers: own, type, text, bare } = rendered;
  const shown = bare ? { ...envelope, version: undefined, clientRequestId: undefined } : envelope;
  const headers = { ...commonHeaders(shown), ...fault.detail?.headers, ...own };
  const status = faultStatus(fault);
  const operation = envelope.operation?.name;
  const phrase = rendered.reason === undefined ? {} : { reason: reasonPhrase(rendered.reason) };
  // As recorded from Azure, a fault of HEAD has no Content-Type: with one, a client would try to
  // parse the empty body.
  if (envelope.head || text === "")
    return { status, ...phrase, headers, body: undefined, operation };
  const bytes = Buffer.from(text, "utf8");
  headers["Content-Type"] = type;
  headers["Content-Length"] = String(bytes.length);
  return { status, ...phrase, headers, body: { kind: "bytes", bytes }, operation };
}

/** Renders a fault as the Blob, Queue and File services do. A 304 has no body. */
function renderXmlFault(fault: Fault, envelope: Envelope): RenderedFault {
  const headers = { "x-ms-error-code": fault.code };
  const common = { headers, type: "application/xml", bare: false };
  if (faultStatus(fault) === 304) return { ...common, text: "" };
  const reason = faultMessage(fault);
  return { ...common, reason, text: envelope.head ? "" : faultXml(fault, reason, envelope) };
}

function requestInfoOf(envelope: Envelope): RequestInfo {
  const { request, version, operation, requestId, wallNow } = envelope;
  const { headers, target } = request;
  return { header: (name) => headers[name], target, version, operation, requestId, wallNow };
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
    extra += textElement(name, value);
  }
  const code = `<Code>${fault.code}</Code>`;
  const start = byteOrderMark + xmlDeclaration;
  return `${start}<Error>${code}<Message>${escapeText(text)}</Message>${extra}</Error>`;
}

/** Returns a reader that transforms the bytes of stored content, as to a structured body. Inline
 *  content has no reader; its bytes are passed directly. */
function transformed(
  content: ContentRef,
  reader: ContentReader | undefined,
  transform: Transform,
): ContentReader {
  const readRange = (from: number, length: number) =>
    reader?.read(from, length) ?? inlineBytes(content, from, length);
  return {
    length: content.length,
    read: (from, length) => transform(readRange(from, length), readRange),
    close: () => reader?.close(),
  };
}

async function* inlineBytes(
  content: ContentRef,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (content.kind === "inline" && length > 0) yield content.bytes.subarray(from, from + length);
}

/** Renders the outcome, and adds headers that depend on the request, not the operation. */
export function renderResponse(http: HttpService, completed: CompletedRequest): WireResponse {
  const { context, result } = completed;
  const envelope = envelopeOf(http, context);
  const response = result.ok
    ? renderOutcome(result.value, envelope)
    : renderFault(result.fault, envelope);
  addCors(response, completed);
  addOverrides(response, context);
  addStructuredBody(response, context);
  return response;
}

const serverNames: Readonly<Record<ServiceName | "dfs", string>> = {
  blob: "Etagere-Blob/1.0",
  queue: "Etagere-Queue/1.0",
  table: "Etagere-Table/1.0",
  file: "Etagere-File/1.0",
  dfs: "Etagere-Dfs/1.0",
};

/** Longest `x-ms-client-request-id` that is returned, as in Azure; in UTF-16 code units. */
const clientRequestIdUnitsMax = 1024;

/** What the headers and faults of a response are rendered from, as far as the context has it. */
export function envelopeOf(
  { service: { name, api, dialect }, clock }: HttpService,
  { request, requestId, version, operation }: RequestContext,
): Envelope {
  const sent = request.headers["x-ms-client-request-id"];
  const isEchoed = sent !== undefined && sent.length <= clientRequestIdUnitsMax;
  return {
    requestId,
    clientRequestId: isEchoed ? sent : undefined,
    version,
    server: serverNames[api ?? name],
    wallNow: clock.wall(),
    head: request.method === "HEAD",
    dialect,
    request,
    operation,
  };
}

/** Adds the CORS headers. Only an executed call has loaded the rules of the account; other faults
 *  have no CORS headers. */
function addCors(response: WireResponse, { context, result }: CompletedRequest): void {
  const cors = result.ok ? result.value.cors : undefined;
  if (cors === undefined || cors.length === 0) return;
  const { method, headers } = context.request;
  if (method === "OPTIONS") return;
  Object.assign(response.headers, corsHeaders(cors, { origin: headers["origin"], method }));
}

/** Confirms to the client that the checksums inside its structured body were verified. */
function addStructuredBody(response: WireResponse, { request, operation }: RequestContext): void {
  const form = request.headers[structuredHeader];
  if (form !== undefined && operation?.body.kind === "content" && response.status < 300) {
    response.headers[structuredHeader] = form;
  }
}

const overridable = {
  "cache-control": "Cache-Control",
  "content-disposition": "Content-Disposition",
  "content-encoding": "Content-Encoding",
  "content-language": "Content-Language",
  "content-type": "Content-Type",
} as const;

/** Replaces headers of a successful read by those of the SAS (`rscc`, `rscd`, `rsce`, `rscl`,
 *  `rsct`). */
function addOverrides(response: WireResponse, { principal, operation }: RequestContext): void {
  if (operation?.effect !== "reads" || response.status >= 300) return;
  if (principal?.kind !== "service-sas" && principal?.kind !== "delegation-sas") return;
  if (principal.overrides === undefined) return;
  for (const [name, header] of Object.entries(overridable)) {
    const value = principal.overrides[name as keyof typeof overridable];
    if (value !== undefined) response.headers[header] = value;
  }
}

const countMax = 2 ** 32;
const firstGroupLength = 8;

/** Creates the ids of the requests to a service (`x-ms-request-id`). */
export class RequestIds {
  readonly #random: Random;
  #count = countMax;
  #rest = "";

  constructor(random: Random) {
    this.#random = random;
  }

  /** Returns a GUID that is unique per request: the first group is a counter, the others are random
   *  per service and start. Sixteen random bytes per request would cost several times as much. */
  next(): string {
    if (this.#count >= countMax) {
      this.#count = 0;
      this.#rest = newGuid(this.#random).slice(firstGroupLength);
    }
    const group = this.#count.toString(16).padStart(firstGroupLength, "0");
    this.#count += 1;
    return group + this.#rest;
  }
}
