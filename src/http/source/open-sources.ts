import { oneChunk } from "../../content/content.ts";
import { parseHttpDate } from "../../base/dates.ts";
import { checkRead, parseConditions, parseETag } from "../../protocol/conditions.ts";
import { faultMessage, faultStatus, type Fault } from "../../protocol/faults.ts";
import type { ServiceName } from "../../protocol/names.ts";
import { bufferBody, type WireResponse, type WireRequest } from "../wire.ts";
import {
  metadataIn,
  type SourceResponse,
  type SourceReader,
  type SourceRequest,
  type Sources,
} from "./source-reader.ts";
import type { OwnEndpoints } from "./own-endpoints.ts";

/** Reads copy sources: sources in this server by a request to itself, all other sources over the
 *  network. The server opens one reader per service, and one for copies that run in the
 *  background. */

/** What a reader of copy sources consists of: the service whose copies it serves, the addresses of
 *  this server, and `remote`, which reads all other sources. */
interface SourceParts {
  readonly service: ServiceName;
  readonly endpoints: OwnEndpoints;
  readonly remote: SourceReader;
}

/** Returns the reader of a service's copy sources. A source in this server is read by a request to
 *  itself with the credentials of the source, so that all rules for reads apply; other sources are
 *  read over the network. */
export function openSources({ service, endpoints, remote }: SourceParts): Sources {
  const serviceOf = (url: URL, host: string) => endpoints.serviceOf(url, { service, host });
  return { serviceOf, read: sourceReader(endpoints, serviceOf, remote) };
}

/** Returns the reader of sources for copies that run in the background after the response (transfer
 *  jobs). A job names the service of a source in this server, so the host that the client used is
 *  not needed. */
export function transferSources({ endpoints, remote }: Omit<SourceParts, "service">): SourceReader {
  const serviceOf = (url: URL) => endpoints.serviceOf(url, { service: "blob", host: "" });
  return sourceReader(endpoints, serviceOf, remote);
}

function sourceReader(
  endpoints: OwnEndpoints,
  serviceOf: Sources["serviceOf"],
  remote: SourceReader,
): SourceReader {
  return async (request) => {
    const service = request.service ?? serviceOf(request.url, request.host);
    const serve = service && endpoints.serverOf(service);
    if (serve === undefined) return remote(request);
    const response = responseOf(await serve(wireRequestOf(request)));
    // The operations of other services that read a source check its conditions themselves.
    return service === "file" ? checkConditions(request, response) : response;
  };
}

/** Checks the source conditions of a copy from the File service: Get File has no conditions, and a
 *  copy whose condition is ignored would lose an update. The response has the ETag of the state
 *  whose bytes it has. */
function checkConditions({ headers }: SourceRequest, response: SourceResponse): SourceResponse {
  const etag = parseETag(response.headers["etag"] ?? "");
  if (response.status >= 300 || etag === undefined) return response;
  const conditions = parseConditions({ header: (name) => headers[name] });
  const lastModified = parseHttpDate(response.headers["last-modified"] ?? "");
  const target = { etag, ...(lastModified !== undefined && { lastModified }) };
  const verdict = conditions.ok ? checkRead(conditions.value, target) : conditions;
  if (verdict === "not-modified") return rejected(response, { status: 304 });
  return verdict.ok ? response : rejected(response, verdict.fault);
}

function rejected(response: SourceResponse, fault: Fault | { readonly status: 304 }) {
  response.close();
  const isFault = "code" in fault;
  return {
    status: isFault ? faultStatus(fault) : fault.status,
    reason: isFault ? faultMessage(fault) : "",
    headers: isFault ? { "x-ms-error-code": fault.code } : {},
    metadata: [],
    body: nothing(),
    close: () => {},
  };
}

/** Converts a request for a source in this server to the form that the pipeline takes. */
export function wireRequestOf(request: SourceRequest): WireRequest {
  const { url, method, remoteAddress, secure, isPart, span } = request;
  const all: Record<string, string> = { host: url.host, ...request.headers };
  return {
    method,
    target: url.pathname + url.search,
    headers: all,
    rawHeaders: Object.entries(all).flat(),
    body: nothing(),
    secure,
    remoteAddress,
    ...(isPart && { isPart, span }),
    proceed: () => {},
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function responseOf({ status, reason = "", headers, body }: WireResponse): SourceResponse {
  const lower: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value;
  const metadata = metadataIn(Object.entries(headers));
  const head = { status, reason, headers: lower, metadata };
  if (body?.kind === "stream") {
    const { reader, from, length } = body;
    return { ...head, body: reader.read(from, length), close: () => reader.close() };
  }
  const held = body === undefined ? "" : bufferBody(body);
  const bytes = typeof held === "string" ? Buffer.from(held) : held;
  return { ...head, body: oneChunk(bytes), close: () => {} };
}
