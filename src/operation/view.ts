import type { Awaitable } from "../base/awaitable.ts";
import type { ContentRef, Slice } from "../content/content-ref.ts";
import type { Table } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";

/** What an operation may look at: records of one consistent state, decoded. */
export interface RecordView {
  readonly now: Ticks;
  get<K, R>(table: Table<K, R>, key: K): Awaitable<R | undefined>;
  /** Records between two encoded keys (`table.range(…)`), in arrays. */
  scan<K, R>(table: Table<K, R>, bounds: ScanBounds): AsyncIterable<readonly Scanned<R>[]>;
  /** The first few of such records; for those who each take what comes first away. */
  readHead<K, R>(
    table: Table<K, R>,
    bounds: ScanBounds & { readonly limit: number },
  ): Awaitable<readonly Scanned<R>[]>;
  /** What a scanned record is told as; what lasts as long as the record does may be kept and is
   *  then not rendered again. `form` tells ways to render a record apart. */
  renderCached<R>(
    entry: Scanned<R>,
    form: number,
    render: () => Rendered | undefined,
  ): string | undefined;
  /** A commutative counter, zero if never touched. Not validated at commit, unless it has to be
   *  exact: then whoever adds to it stands in the way. */
  count(counter: Uint8Array, isExact?: boolean): Promise<bigint>;
  /** The slices of a content that overlap a stretch of it. */
  slices(ref: ContentRef, from: number, length: number): AsyncIterable<readonly Slice[]>;
}

export interface Rendered {
  readonly text: string;
  /** Whether it depends on nothing but the record and the form. */
  readonly isCacheable: boolean;
}

export interface ScanBounds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly reverse?: boolean;
  readonly limit?: number;
  /** Each key found leads to a record that is read next: `prefix` and what comes after the first
   *  `skip` bytes of it. */
  readonly indexTarget?: { readonly skip: number; readonly prefix: Uint8Array };
}

export interface Scanned<R> {
  readonly key: Uint8Array;
  readonly record: R;
}
