import { validPairs, metadataPrefix, type Metadata } from "../../protocol/metadata.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { Span } from "../../base/span.ts";
import type { FetchedProperties } from "../../operation/source.ts";

/** The interface between copies and what reads their sources: request, response, errors.
 *  Implemented by `open-sources.ts` and `remote-source.ts`. */

/** A request for the source of a copy, to this server or to another one. */
export interface SourceRequest {
  readonly url: URL;
  readonly method: "GET" | "HEAD";
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The host that the client of the copy used: a URL with the same host addresses this server. */
  readonly host: string;
  /** Address of the client of the copy, because a SAS may be limited to an address. */
  readonly remoteAddress: string;
  /** Whether the copy request used HTTPS, whatever the scheme of the source URL is. */
  readonly secure: boolean;
  /** The service of this server that is addressed; undefined: URL and host decide. */
  readonly service?: ServiceName | undefined;
  /** Aborted when the result is no longer needed, as after the client has disconnected. */
  readonly signal?: AbortSignal | undefined;
  /** Set if a client waits for the copy: its request, which this one is a part of, has the span. */
  readonly isPart?: true;
  readonly span?: Span | undefined;
}

/** A header of every source request over the network, which the client of the copy cannot remove.
 *  Admin listeners reject requests with it, also those of other processes and machines. */
export const sourceMarkHeader = "x-etagere-source";

/** The response of a source; after a failure, a substitute with the status of the fault. */
export interface SourceResponse {
  readonly status: number;
  /** The reason phrase, e.g. "The specified blob does not exist." */
  readonly reason: string;
  /** Why there was no response, for the debug log; undefined if the source responded. */
  readonly failure?: string;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Metadata, with names in upper and lower case as the source has sent them. */
  readonly metadata: Metadata;
  /** A chunk is valid until the next one is requested. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Stops reading. Must also be called after everything was read. */
  close(): void;
}

/** Reads a source. Rejects with `SourceUnreachable` if there is no response. */
export type SourceReader = (request: SourceRequest) => Promise<SourceResponse>;

/** How the operations of one service read copy sources. */
export interface Sources {
  readonly read: SourceReader;
  /** The service of this server that the URL addresses; undefined for other servers. */
  readonly serviceOf: (url: URL, host: string) => ServiceName | undefined;
}

/** Thrown if no server responds, or if the address is blocked. */
export class SourceUnreachable extends Error {
  override readonly name = "SourceUnreachable";
  /** The status of the copy: 400 if the source is unreachable, 403 if it is blocked. */
  readonly status: 400 | 403;

  constructor(message: string, status: 400 | 403 = 400) {
    super(message);
    this.status = status;
  }
}

/** Reads a source. A source that cannot be reached becomes a response with the status of the fault,
 *  so that callers handle it like an error of the source. */
export async function requestSource(
  read: SourceReader,
  request: SourceRequest,
): Promise<SourceResponse> {
  try {
    return await read(request);
  } catch (error) {
    if (!(error instanceof SourceUnreachable)) throw error;
    const { status, message: failure } = error;
    const empty = { headers: {}, metadata: [], body: noChunks(), close: () => {} };
    return { status, reason: "", failure, ...empty };
  }
}

async function* noChunks(): AsyncGenerator<Uint8Array> {}

/** The properties of a source from the headers of its response. Malformed ones are left out. */
export function fetchedPropertiesOf({ headers, metadata }: SourceResponse): FetchedProperties {
  return {
    header: (name) => headers[name],
    metadata: validPairs(metadata),
    length: totalLength(headers),
  };
}

function totalLength(headers: SourceResponse["headers"]): number | undefined {
  const total = /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1] ?? headers["content-length"];
  const length = /^\d+$/.test(total ?? "") ? Number(total) : Number.NaN;
  return Number.isSafeInteger(length) ? length : undefined;
}

/** The metadata in the headers of a response, with the source's spelling of names. */
export function metadataIn(headers: Iterable<readonly [string, string]>): Metadata {
  const pairs: (readonly [string, string])[] = [];
  for (const [name, value] of headers) {
    if (!name.toLowerCase().startsWith(metadataPrefix)) continue;
    pairs.push([name.slice(metadataPrefix.length), value]);
  }
  return pairs;
}
