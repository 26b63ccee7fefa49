import type { Span } from "../base/span.ts";
import type { Body, ContentReader } from "../content/content.ts";
import type { PagedText } from "../encoding/paged-text.ts";
import type { ByteLimiter } from "./limits/processing-limits.ts";

/** Requests and responses as the pipeline sees them, independent of Node: from a connection, from a
 *  part of a batch, or from this server to itself. */

/** A request as received, or as a part of a batch. Header names are lower case. */
export interface WireRequest {
  readonly method: string;
  /** Path and query exactly as sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Name, value, name, value … in the client's own spelling and order. */
  readonly rawHeaders: readonly string[];
  readonly body: Body;
  /** The complete body if it is in memory already, as that of a part of a batch. */
  readonly whole?: Uint8Array;
  readonly secure: boolean;
  readonly remoteAddress: string;
  /** Counts the memory that the request holds; undefined: unlimited. */
  readonly memory?: RequestMemory;
  /** Whether the connection exceeds the limit of connections, so that the request gets 503. */
  readonly isSurplus?: boolean;
  /** Set if this process sends the request to itself for another one: a part of a batch, or a
   *  request for a copy source. */
  readonly isPart?: true;
  /** The span of the request, or of the one that it is a part of; undefined if it is not traced. */
  readonly span?: Span | undefined;
  /** Account of the batch that this request is a part of; undefined outside a batch. */
  readonly batchAccount?: string;
  /** The client's connection; undefined for requests of this process to itself. */
  readonly connection?: ClientConnection;
  /** Sends `100 Continue` if the client waits for it. */
  readonly proceed: () => void;
}

/** The part of the socket of a client that is used: to notice that it has disconnected. */
export interface ClientConnection {
  readonly destroyed: boolean;
  once(event: "close", listener: () => void): unknown;
}

/** Counts the bytes that one request holds in memory; they are released when it ends. */
export interface RequestMemory {
  /** Returns false if this many more bytes would exceed the budget. */
  hold(bytes: number): boolean;
  /** Waits until the limiter admits this many bytes. */
  enter(limiter: ByteLimiter, bytes: number): Promise<void>;
}

/** A response as the pipeline returns it; `handler.ts` sends it. */
export interface WireResponse {
  readonly status: number;
  readonly reason?: string;
  readonly headers: Record<string, string>;
  readonly body: WireBody | undefined;
  /** Name of the operation that was selected, for the metrics; undefined if none was. */
  readonly operation?: string | undefined;
  /** Called when the response was sent, or its connection closed; undefined if not needed. */
  finished?: (() => void) | undefined;
}

/** A body in memory, in reusable pages, or streamed from stored content. */
export type WireBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array | string }
  | { readonly kind: "paged"; readonly paged: PagedText }
  | StreamedBody;

export interface StreamedBody {
  readonly kind: "stream";
  readonly reader: ContentReader;
  readonly from: number;
  readonly length: number;
}

/** Returns the whole body in one piece, for a part of a batch, and releases its pages. */
export function bufferBody(body: Exclude<WireBody, { kind: "stream" }>): Uint8Array | string {
  if (body.kind === "bytes") return body.bytes;
  const { paged } = body;
  const whole = Buffer.concat(paged.pieces());
  paged.release();
  return whole;
}
