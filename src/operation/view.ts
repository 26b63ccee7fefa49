import type { Awaitable } from "../base/awaitable.ts";
import type { ContentRef, Slice } from "../content/content-ref.ts";
import type { Table } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";

/** Read access of an operation: decoded records of one consistent state. */
export interface RecordView {
  readonly now: Ticks;
  get<K, R>(table: Table<K, R>, key: K): Awaitable<R | undefined>;
  /** Records between two encoded keys (`table.range(…)`), in arrays. */
  scan<K, R>(table: Table<K, R>, bounds: ScanBounds): AsyncIterable<readonly Scanned<R>[]>;
  /** The first records of a range, for operations that remove what they read: they start at the
   *  range head (glossary). */
  readHead<K, R>(
    table: Table<K, R>,
    bounds: ScanBounds & { readonly limit: number },
  ): Awaitable<readonly Scanned<R>[]>;
  /** Renders a scanned record, from the cache if the rendering depends only on the record and
   *  `form`. */
  renderCached<R>(
    entry: Scanned<R>,
    form: number,
    render: () => Rendered | undefined,
  ): string | undefined;
  /** A commutative counter, 0 if never written. Validated at commit only if `isExact`; then
   *  concurrent additions conflict. */
  count(counter: Uint8Array, isExact?: boolean): Promise<bigint>;
  /** The slices of a content that overlap a range of bytes. */
  slices(ref: ContentRef, from: number, length: number): AsyncIterable<readonly Slice[]>;
}

export interface Rendered {
  readonly text: string;
  /** Whether the text depends only on the record and the form. */
  readonly isCacheable: boolean;
}

export interface ScanBounds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly reverse?: boolean;
  readonly limit?: number;
  /** For index scans: the key of the record that is read next is `prefix` and the index key without
   *  its first `skip` bytes. */
  readonly indexTarget?: { readonly skip: number; readonly prefix: Uint8Array };
}

export interface Scanned<R> {
  readonly key: Uint8Array;
  readonly record: R;
}
