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
      /** Answer the checksum of just these bytes as well. */
      readonly checksum?: "md5" | "crc64" | undefined;
      /** What becomes of the bytes on their way out; the answer's length is then unknown. */
      readonly through?: Transform;
      /** How long the answer is then, if that is known. */
      readonly lengthThrough?: number;
    };

export type Transform = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** Requests to be run as if each had come alone, and answered together in a multipart body. */
export interface Batch {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** The container that all parts must address; undefined in a batch for the account. */
  readonly within?: string;
}

/** Groups instead of one object: joining those of a blob cost more than finding it. */
export type HeaderGroup<H extends string = string> = Readonly<
  Partial<Record<H, string | undefined>>
>;

export interface Reply<Target, H extends string> {
  readonly status?: number;
  /** In one group or in several; a later one wins. Undefined values are left out. */
  readonly headers?: HeaderGroup<H> | readonly HeaderGroup<H>[];
  readonly metadata?: Metadata;
  readonly body?: ReplyBody;
  /** The target's new record (its ETag is stamped if the policy says so) … */
  readonly put?: Target;
  /** … and what its bytes become. */
  readonly content?: ContentPlan;
  /** The target goes away. */
  readonly remove?: true;
  readonly effects?: readonly Effect[];
  /** Effects that share the bytes the target holds now, so they come before its own change. */
  readonly preserve?: readonly Effect[];
  /** The ETag to answer if it is not the target's: a snapshot's own. */
  readonly etag?: Ticks;
  /** What a read leaves behind. */
  readonly deferredUpdate?: DeferredUpdate;
}

/** A small change that is no part of the operation: made on whatever lies there by then. */
export interface DeferredUpdate {
  readonly table: AnyTable;
  readonly key: unknown;
  /** Undefined if there is nothing to change any more. */
  readonly change: (record: object) => object | undefined;
}

/** Not yet: the effects are committed, and the whole operation runs again when something changes
 *  under `key`, or at `until`. A reader that waits writes its effects, too. */
export interface WaitDecision {
  readonly wait: { readonly key: Uint8Array; readonly until: Ticks };
  readonly effects: readonly Effect[];
}
