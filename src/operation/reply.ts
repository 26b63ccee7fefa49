import type { ContentPlan, ContentRef } from "../content/content-ref.ts";
import type { Effect } from "./effects.ts";
import type { PagedText } from "../encoding/paged-text.ts";
import type { AnyTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Metadata } from "../protocol/metadata.ts";

export type ReplyBody =
  | { readonly type: string; readonly text: string }
  | { readonly type: string; readonly bytes: Uint8Array }
  | { readonly type: string; readonly paged: PagedText }
  | { readonly batch: Batch }
  | {
      readonly content: ContentRef;
      readonly from: number;
      readonly length: number;
      /** Adds the checksum of exactly these bytes to the response. */
      readonly checksum?: "md5" | "crc64" | undefined;
      /** Transforms the bytes while they are sent; the length of the response is then unknown,
       *  unless `lengthThrough` has it. */
      readonly transform?: Transform;
      readonly transformedLength?: number;
    };

export type Transform = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** Requests that are executed one by one and whose responses are sent in one multipart body. */
export interface Batch {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** The container that all parts must address; undefined in a batch for the account. */
  readonly within?: string;
}

/** Several groups instead of one object: merging those of a blob cost more than finding it. */
export type HeaderGroup<H extends string = string> = Readonly<
  Partial<Record<H, string | undefined>>
>;

export interface Reply<Target, H extends string> {
  readonly status?: number;
  /** One group or several; a later one takes precedence. Undefined values are omitted. */
  readonly headers?: HeaderGroup<H> | readonly HeaderGroup<H>[];
  readonly metadata?: Metadata;
  readonly body?: ReplyBody;
  /** The target's new record; the policy `renew` sets its ETag. */
  readonly put?: Target;
  /** The target's new content; undefined: unchanged. */
  readonly content?: ContentPlan;
  /** Deletes the target. */
  readonly remove?: true;
  readonly effects?: readonly Effect[];
  /** Effects that share the target's current content; applied before the target changes. */
  readonly preserve?: readonly Effect[];
  /** The ETag of the response if it is not the target's: a blob snapshot's. */
  readonly etag?: Ticks;
  /** A small write after a successful read. */
  readonly deferredUpdate?: DeferredUpdate;
}

/** A write that is not part of the operation and applies to the record as it is by then. */
export interface DeferredUpdate {
  readonly table: AnyTable;
  readonly key: unknown;
  /** Returns undefined if nothing has to change. */
  readonly change: (record: object) => object | undefined;
}

/** The operation must wait. Its effects are committed, also for a read; then it runs again from the
 *  start when a key under `key` changes, or at `until`. */
export interface WaitDecision {
  readonly wait: { readonly key: Uint8Array; readonly until: Ticks };
  readonly effects: readonly Effect[];
}
