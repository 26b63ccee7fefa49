import type { Awaitable } from "../base/awaitable.ts";
import type { LoopShare } from "../base/loop-share.ts";
import type { ContentRef, Slice } from "../content/content-ref.ts";
import type { Table } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Bounds, LimitedBounds } from "../store/store.ts";

/** How operations read: decoded records of one state. `Records` implements it on a view of the
 *  store; tests of decisions use it with their own records. */
export interface RecordView {
  readonly now: Ticks;
  readonly loop: LoopShare;
  get<K, R>(table: Table<K, R>, key: K): Awaitable<R | undefined>;
  /** Records between two encoded keys (`table.range(…)`), in order, in arrays of bounded length. */
  scan<K, R>(table: Table<K, R>, bounds: Bounds): AsyncIterable<readonly Scanned<R>[]>;
  /** The first records of a range, for operations that delete what they read. Starts after the
   *  records that earlier transactions of the batch have deleted (range head in the glossary). */
  readHead<K, R>(table: Table<K, R>, bounds: LimitedBounds): Awaitable<readonly Scanned<R>[]>;
  /** Renders a scanned record, or returns the cached text. A text is cached if it depends only on
   *  the record and `variant`. Undefined if `render` returns undefined. */
  renderCached<R>(
    entry: Scanned<R>,
    variant: number,
    render: () => Rendered | undefined,
  ): string | undefined;
  /** The value of a commutative counter; 0 if it was never written. Validated at commit only if
   *  `isExact`; concurrent additions then conflict. */
  count(counter: Uint8Array, isExact?: boolean): Awaitable<bigint>;
  /** The slices of a content that overlap a range of bytes. */
  slices(ref: ContentRef, from: number, length: number): AsyncIterable<readonly Slice[]>;
}

/** The text of a record in a listing, and whether it may be cached. */
export interface Rendered {
  readonly text: string;
  /** Whether the text depends only on the record and the variant. */
  readonly isCacheable: boolean;
}

/** A record of a scan, with the key at which a listing continues. */
export interface Scanned<R> {
  readonly key: Uint8Array;
  readonly record: R;
}
