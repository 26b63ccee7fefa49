import type { Batch } from "../../operation/reply.ts";
import type { FaultCode } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { newGuid } from "../../operation/identifiers.ts";
import type { HttpService } from "../http-service.ts";
import { parseEmbeddedRequest, partRequestOf } from "./embedded-http.ts";
import { locate } from "../request/target.ts";
import { boundaryOf, headerLines, parseMultipart, type Part } from "./multipart.ts";
import { renderFault, type Envelope } from "../render.ts";
import type { Router } from "../request/routing.ts";
import { bufferBody, type WireRequest, type WireResponse } from "../wire.ts";
import { STATUS_CODES } from "node:http";
import { byteOrderMark, xmlDeclaration } from "../../encoding/xml-writer.ts";

/** Runs a Blob Batch: up to 256 deletions or tier changes in one request, each with its own result.
 *  Unlike a table transaction it is not atomic. Called by `http/pipeline.ts`.
 *  learn.microsoft.com/rest/api/storageservices/blob-batch */

/** Limit of the service for the requests of one batch. */
const batchPartsMax = 256;
/** Requests of one batch that run at the same time, so that other clients are served, too. */
const partsAtOnceMax = 16;

/** Units of event-loop time (`base/loop-share.ts`) for executing a part, and bytes per unit of
 *  parsing one. */
const unitsPerRequest = 10;
const bytesPerUnit = 2048;

/** A batch and what its parts need to run as requests. */
interface BatchRun {
  readonly http: HttpService;
  readonly request: WireRequest;
  readonly envelope: Envelope;
  readonly batch: Batch;
  readonly serve: (http: HttpService, request: WireRequest) => Promise<WireResponse>;
}

interface BatchResponse {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Runs each part of a batch as a request of its own, and renders their responses. */
export async function runBatch(run: BatchRun): Promise<Result<BatchResponse>> {
  const { batch } = run;
  const boundary = boundaryOf(batch.contentType);
  if (boundary === undefined) return fail("InvalidInput");
  const parts = parseMultipart(batch.bytes, boundary, {
    // One more than allowed, because a batch with too many parts has a fault of its own; further
    // parts are not parsed.
    partsMax: batchPartsMax + 1,
    stopsAtMax: true,
  });
  if (!parts.ok) return parts;
  if (parts.value.length === 0) return fail("InvalidInput");
  if (parts.value.length > batchPartsMax) {
    return ok(rejectionOf(run, "ExceedsMaxBatchRequestCount"));
  }
  const location = locate(run.request, run.http);
  if (!location.ok) return location;
  const requests: WireRequest[] = [];
  const { loop } = run.http.runtime.content;
  for (const part of parts.value) {
    const wait = loop.spend(1 + (part.to - part.from) / bytesPerUnit);
    if (wait !== undefined) await wait;
    const request = requestOf(part, run, location.value.account);
    if (!request.ok) return request;
    requests.push(request.value);
  }
  if (!requests.every((request) => isWithin(run, request))) {
    return ok(rejectionOf(run, "InvalidInput"));
  }
  const rendered: Uint8Array[] = [];
  const http = serviceOf(run);
  const serve = async (request: WireRequest): Promise<WireResponse> => {
    const wait = loop.spend(unitsPerRequest);
    if (wait !== undefined) await wait;
    return run.serve(http, request);
  };
  for (let at = 0; at < requests.length; at += partsAtOnceMax) {
    const replies = await Promise.all(requests.slice(at, at + partsAtOnceMax).map(serve));
    for (const [index, reply] of replies.entries()) {
      rendered.push(renderSubResponse(reply, parts.value[at + index]?.headers["content-id"]));
    }
  }
  return ok(responseOf(run, rendered));
}

function requestOf(
  part: Part,
  { request, envelope }: BatchRun,
  batchAccount: string,
): Result<WireRequest> {
  const embedded = parseEmbeddedRequest(part);
  if (!embedded.ok) return embedded;
  const wire = partRequestOf(embedded.value, request);
  // A part of a batch has no x-ms-version of its own but that of the batch. It is added to the
  // parsed headers only: the signature of the part does not contain it.
  const headers = { ...wire.headers, "x-ms-version": envelope.version };
  return ok({ ...wire, headers, batchAccount });
}

/** The service of the batch, restricted to operations that may be a part of a batch. */
function serviceOf({ http }: BatchRun): HttpService {
  const router: Router = (routed) => {
    const operation = http.router(routed);
    if (!operation.ok || operation.value.mayBeBatched === true) return operation;
    return fail("InvalidInput");
  };
  return { ...http, router };
}

/** Whether a part addresses the container of the batch. A part with an invalid path is accepted
 *  here; it gets a fault of its own, as in a batch that is sent to the account. */
function isWithin({ http, batch: { within } }: BatchRun, request: WireRequest): boolean {
  if (within === undefined) return true;
  const location = locate(request, http);
  if (!location.ok) return true;
  const address = http.service.identify(location.value.path, location.value.query);
  return !address.ok || http.service.signedName(address.value).name === within;
}

/** The response of a batch that is rejected as a whole: one sub-response, without a Content-ID. */
function rejectionOf(run: BatchRun, code: FaultCode): BatchResponse {
  return responseOf(run, [renderSubResponse(renderFault({ code }, run.envelope), undefined)]);
}

function responseOf({ http }: BatchRun, parts: readonly Uint8Array[]): BatchResponse {
  const boundary = `batchresponse_${newGuid(http.runtime.random)}`;
  return {
    type: `multipart/mixed; boundary=${boundary}`,
    bytes: renderSubResponses(boundary, parts),
  };
}

const crlf = "\r\n";

/** Headers that follow those of the operation, in this order in all sub-responses that were
 *  recorded from Azure. */
const trailingNames = [
  "x-ms-request-id",
  "x-ms-version",
  "x-ms-client-request-id",
  "Content-Length",
  "Content-Type",
  "Server",
] as const;

/** Renders one sub-response of a Blob Batch. It has no date, and no length without a body. */
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
  const contentIdLine = contentId === undefined ? "" : `Content-ID: ${contentId}${crlf}`;
  const reason = reply.reason ?? STATUS_CODES[reply.status] ?? "";
  const start =
    `Content-Type: application/http${crlf}${contentIdLine}${crlf}` +
    `HTTP/1.1 ${reply.status} ${reason}${crlf}${headerLines(headers)}${crlf}`;
  return body.length === 0 ? Buffer.from(start) : Buffer.concat([Buffer.from(start), body, ending]);
}

const ending = Buffer.from(crlf);

function isTrailing(name: string): boolean {
  return (trailingNames as readonly string[]).includes(name);
}

const declaration = Buffer.from(byteOrderMark + xmlDeclaration);

/** In a batch, the service writes a line feed after the XML declaration: so in all 23 faults that
 *  were recorded from Azure. */
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
