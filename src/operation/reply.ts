import type { ContentPlan, ContentRef } from "../content/content-ref.ts";
import type { Effect } from "./effects.ts";
import type { PagedText } from "../encoding/paged-text.ts";
import type { AnyTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Metadata } from "../protocol/metadata.ts";

/** What a decision returns: a response with the changes to write, or that the request must wait.
 *  `run.ts` applies the changes, `http/` renders the response. */

/** The body of a response as a decision returns it. A body whose length depends on stored records
 *  or on the request has `pieces`: they are rendered after the decision, on the same state, in
 *  steps between which other requests run. */
export type ReplyBody =
  | RenderedBody
  | { readonly type: string; readonly pieces: Iterable<string | Uint8Array> };

/** A text or bytes in memory, the responses of a batch, or stored content that is streamed. */
export type RenderedBody =
  | { readonly type: string; readonly text: string }
  | { readonly type: string; readonly bytes: Uint8Array }
  | { readonly type: string; readonly paged: PagedText }
  | { readonly batch: Batch }
  | {
      readonly content: ContentRef;
      readonly from: number;
      readonly length: number;
      /** Sends the checksum of exactly these bytes in a header. */
      readonly checksum?: "md5" | "crc64" | undefined;
      /** Transforms the bytes while the response is sent. */
      readonly transform?: Transform;
      /** Length of the transformed bytes; undefined: unknown before they are sent. */
      readonly transformedLength?: number;
    };

/** Gets the bytes in order, and a function that reads any range of the content. */
export type Transform = (
  chunks: AsyncIterable<Uint8Array>,
  read: (from: number, length: number) => AsyncIterable<Uint8Array>,
) => AsyncIterable<Uint8Array>;

/** The body of a Blob Batch: requests that are executed one by one and whose responses are sent in
 *  one multipart body. */
export interface Batch {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** The container that all parts must address; undefined for a batch to the account. */
  readonly within?: string;
}

/** The headers that a decision may return, besides those that every response has. */
type HeaderName =
  | `x-ms-${string}`
  | `Content-${"Type" | "Encoding" | "Language" | "Disposition" | "MD5" | "Range"}`
  | `Access-Control-${string}`
  | "Accept-Ranges"
  | "Cache-Control"
  | "DataServiceId"
  | "Location"
  | "Preference-Applied"
  | "X-Content-Type-Options";

/** Header values by name. A reply has several groups instead of one object, because merging the
 *  headers of a blob costs more than finding the blob. */
export type HeaderGroup = Readonly<Record<string, string | undefined>>;
/** A group of headers in a decision, with checked names. */
export type ReplyHeaders = Readonly<Partial<Record<HeaderName, string | undefined>>>;

/** What a decision returns if the request succeeds: the response, and the changes to write. */
export interface Reply<Target> {
  readonly status?: number;
  /** One group or several; of equal names the last one applies. Undefined values are omitted. */
  readonly headers?: ReplyHeaders | readonly ReplyHeaders[];
  readonly metadata?: Metadata;
  readonly body?: ReplyBody;
  /** The target's new record; undefined: unchanged. The ETag policy `renew` sets its ETag. */
  readonly put?: Target;
  /** The target's new content; undefined: unchanged. */
  readonly content?: ContentPlan | undefined;
  readonly remove?: true;
  readonly effects?: readonly Effect[];
  /** Effects that share the target's current content (a new snapshot). They are applied before the
   *  target changes. */
  readonly preserve?: readonly Effect[];
  /** The ETag of the response if it is not the target's but, as that of a new snapshot, another. */
  readonly etag?: Ticks;
  /** What the change counts as in the event log, if the declaration leaves that to the decision. */
  readonly event?: object;
  /** A small write after a successful read, for example the last access time. */
  readonly deferredUpdate?: DeferredUpdate | undefined;
}

/** A small write after a successful read, in a separate transaction on the record of that time. */
export interface DeferredUpdate {
  readonly table: AnyTable;
  readonly key: unknown;
  /** Returns the changed record; undefined if nothing has to change. */
  readonly change: (record: object) => object | undefined;
}

/** The decision that an operation must wait. Its effects are committed, also for a read. It then
 *  runs again from the start when a key under `key` changes, or at `until`. */
export interface WaitDecision {
  readonly wait: { readonly key: Uint8Array; readonly until: Ticks };
  readonly effects: readonly Effect[];
}
