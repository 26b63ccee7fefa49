import type { ServiceName } from "../../protocol/service-name.ts";
import { bufferBody, type WireResponse, type WireRequest } from "../wire.ts";
import { metadataIn } from "./fetched-properties.ts";
import type { OwnEndpoints } from "./own-endpoints.ts";
import type { SourceResponse, SourceReader, SourceRequest, Sources } from "./source-reader.ts";

/** What copy sources are read with. `remote` reads those outside this server. */
export interface SourceParts {
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

/** Returns the reader of sources for transfer jobs, which continue after the response. */
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
    return serve === undefined ? remote(request) : responseOf(await serve(wireRequestOf(request)));
  };
}

/** Converts a request for a source to a request for the pipeline. */
export function wireRequestOf(request: SourceRequest): WireRequest {
  const { url, method, remoteAddress, secure } = request;
  const all: Record<string, string> = { host: url.host, ...request.headers };
  return {
    method,
    target: url.pathname + url.search,
    headers: all,
    rawHeaders: Object.entries(all).flat(),
    body: nothing(),
    secure,
    remoteAddress,
    proceed: () => {},
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function responseOf({ status, reason = "", headers, body }: WireResponse): SourceResponse {
  const lower: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value;
  const metadata = metadataIn(Object.entries(headers));
  const answer = { status, reason, headers: lower, metadata };
  if (body?.kind === "stream") {
    const { reader, from, length } = body;
    return { ...answer, body: reader.read(from, length), close: () => reader.close() };
  }
  const held = body === undefined ? "" : bufferBody(body);
  const bytes = typeof held === "string" ? Buffer.from(held) : held;
  return { ...answer, body: once(bytes), close: () => {} };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
