import type { Metadata } from "../../protocol/metadata.ts";
import type { ServiceName } from "../../protocol/service-name.ts";

/** A request for the source of a copy: to this very server, or to any other. */
export interface SourceRequest {
  readonly url: URL;
  readonly method: "GET" | "HEAD";
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The host by which the caller of this server reached it: the same host is this server. */
  readonly host: string;
  /** Whom the source is read for: a signature may be limited to an address. */
  readonly remoteAddress: string;
  /** Whether that request came over HTTPS, whatever scheme its URL of the source names. */
  readonly secure: boolean;
  /** Undefined if it follows from URL and host whether a service of this server is meant. */
  readonly service?: ServiceName | undefined;
  /** Aborted when the result is of no use any more, as after the client has disconnected. */
  readonly signal?: AbortSignal | undefined;
}

/** Header that every source request over the network carries, and that its client cannot remove.
 *  Admin listeners refuse it, also those of other processes and machines. */
export const sourceMarkHeader = "x-etagere-source";

export interface SourceAnswer {
  readonly status: number;
  /** What it says of the status, e.g. "The specified blob does not exist." */
  readonly reason: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** With names as the source spells them. */
  readonly metadata: Metadata;
  /** A chunk is valid until the next one is asked for. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Gives up on the rest. Also called after everything was read. */
  close(): void;
}

/** Rejects with `SourceUnreachable` if nobody answers, or nobody that may be asked. */
export type SourceReader = (request: SourceRequest) => Promise<SourceAnswer>;

/** Where the operations of one service find the sources that they copy. */
export interface Sources {
  readonly read: SourceReader;
  /** The service of this server that the URL leads to; undefined if it leads elsewhere. */
  readonly serviceOf: (url: URL, host: string) => ServiceName | undefined;
}

export class SourceUnreachable extends Error {
  override readonly name = "SourceUnreachable";
  /** What the client of a copy is told: its URL leads nowhere, or where it must not. */
  readonly status: 400 | 403;

  constructor(message: string, status: 400 | 403 = 400) {
    super(message);
    this.status = status;
  }
}

/** A source that cannot be reached answers with what that means to the client. */
export async function ask(read: SourceReader, request: SourceRequest): Promise<SourceAnswer> {
  try {
    return await read(request);
  } catch (error) {
    if (!(error instanceof SourceUnreachable)) throw error;
    const { status } = error;
    return { status, reason: "", headers: {}, metadata: [], body: nothing(), close: () => {} };
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
