import type { ServiceName } from "../../core/operation.ts";
import { wholeOf, type WireReply, type WireRequest } from "../wire.ts";
import { metadataIn } from "./source-found.ts";
import type { SourceAnswer, SourceReader, SourceRequest } from "./source-reader.ts";

/** Azure's command line makes the address of a source from the account's name alone, as if it were
 *  in the cloud. The account that emulators share never is. */
const cloudAddress = /^devstoreaccount1\.(\w+)\.core\.windows\.net$/i;

/** Whether a URL names the server that the caller is talking to: the same host and port, or
 *  another account of it, as in `one.blob.localhost:10000` and `two.blob.localhost:10000`. */
export function isOwnHost(host: string, asked: string, service: ServiceName): boolean {
  if (host.toLowerCase() === asked.toLowerCase()) return true;
  if (cloudAddress.exec(host)?.[1]?.toLowerCase() === service) return true;
  const rest = host.slice(host.indexOf(".") + 1).toLowerCase();
  const askedRest = asked.slice(asked.indexOf(".") + 1).toLowerCase();
  return rest === askedRest && rest.startsWith(`${service}.`);
}

export interface OwnSources {
  readonly service: ServiceName;
  readonly serve: (request: WireRequest) => Promise<WireReply>;
  readonly elsewhere: SourceReader;
}

/** Reads a source of this server as its own request, with the source's own credentials, so that
 *  every rule of reading holds; others over the network. */
export function sourceReader({ service, serve, elsewhere }: OwnSources): SourceReader {
  return async (request) => {
    if (!isOwnHost(request.url.host, request.host, service)) return elsewhere(request);
    return answerOf(await serve(wireRequestOf(request)));
  };
}

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

function answerOf({ status, reason = "", headers, body }: WireReply): SourceAnswer {
  const lower: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) lower[name.toLowerCase()] = value;
  const metadata = metadataIn(Object.entries(headers));
  const answer = { status, reason, headers: lower, metadata };
  if (body?.kind === "stream") {
    const { reader, from, length } = body;
    return { ...answer, body: reader.read(from, length), close: () => reader.close() };
  }
  const held = body === undefined ? "" : wholeOf(body);
  const bytes = typeof held === "string" ? Buffer.from(held) : held;
  return { ...answer, body: once(bytes), close: () => {} };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}
