import type { Body } from "../content/body.ts";
import type { PagedText } from "../encoding/paged-text.ts";
import type { ContentReader } from "../content/content.ts";
import type { ByteLimiter } from "./byte-limiter.ts";

/** A request as it came over the wire, or as a part of a batch. Header names are lower case. */
export interface WireRequest {
  readonly method: string;
  /** Path and query exactly as sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Name, value, name, value … in the client's own spelling and order. */
  readonly rawHeaders: readonly string[];
  readonly body: Body;
  /** The whole body, where it is here already: a part of a batch. */
  readonly whole?: Uint8Array;
  readonly secure: boolean;
  readonly remoteAddress: string;
  /** What it may hold in memory; without, as much as it wants to. */
  readonly memory?: RequestMemory;
  /** It came over a connection too many. */
  readonly isSurplus?: boolean;
  /** Account of the batch that this request is a part of; undefined outside a batch. */
  readonly batchAccount?: string;
  /** Tells one client from another, where it is known. */
  readonly connection?: ClientConnection;
  /** Asks the client for the body it holds back (`Expect: 100-continue`). */
  readonly proceed: () => void;
}

/** What of a client's socket matters here. */
export interface ClientConnection {
  readonly destroyed: boolean;
  once(event: "close", listener: () => void): unknown;
}

/** The memory of one request, given back when the request is over. */
export interface RequestMemory {
  /** Returns whether so many more bytes may be held. */
  hold(bytes: number): boolean;
  /** Waits for room to work on so many bytes. */
  enter(room: ByteLimiter, bytes: number): Promise<void>;
}

export interface WireResponse {
  readonly status: number;
  readonly reason?: string;
  readonly headers: Record<string, string>;
  readonly body: WireBody | undefined;
  /** Name of the operation that was selected, for the metrics; undefined if none was. */
  readonly operation?: string | undefined;
}

export type WireBody =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array | string }
  | { readonly kind: "paged"; readonly paged: PagedText }
  | {
      readonly kind: "stream";
      readonly reader: ContentReader;
      readonly from: number;
      readonly length: number;
    };

/** Of an answer that becomes a part of another, or is looked at here. */
export function bufferBody(body: Exclude<WireBody, { kind: "stream" }>): Uint8Array | string {
  if (body.kind === "bytes") return body.bytes;
  const { paged } = body;
  const whole = Buffer.concat(paged.pieces());
  paged.release();
  return whole;
}
