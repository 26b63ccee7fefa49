import type { Scanned, Rendered, RecordView } from "./view.ts";
import {
  decodeCounter,
  type Bounds,
  type Entry,
  type LimitedBounds,
  type Transaction,
  type View,
} from "../store/store.ts";
import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { ContentRef, Slice } from "../content/content-ref.ts";
import type { LoopShare } from "../base/loop-share.ts";
import type { Table, RecordCodec } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { ContentStore } from "../content/content.ts";
import type { RenderCache } from "./render-cache.ts";

/** Reads decoded records from a view of the store: the `RecordView` of operations, background jobs
 *  and the admin API. Long scans yield to the event loop, so that a listing does not delay other
 *  requests. */

/** An entry of a scan whose record is decoded on first access. */
class ScannedRecord<R> implements Scanned<R> {
  readonly entry: Entry;
  readonly #codec: RecordCodec<R>;
  #record: R | undefined;

  constructor(entry: Entry, codec: RecordCodec<R>) {
    this.entry = entry;
    this.#codec = codec;
  }

  get key(): Uint8Array {
    return this.entry.key;
  }

  get record(): R {
    this.#record ??= this.#codec.decode(this.entry.value);
    return this.#record;
  }
}

/** `decoded`: records by their stored bytes, so that operations of one transaction that read the
 *  same record decode it once; the store returns the same byte array for an unchanged value.
 *  Undefined: each read decodes. */
interface RecordsOptions {
  readonly decoded?: Map<Uint8Array, unknown>;
  readonly renderings?: RenderCache | undefined;
}

/** Most records, and bytes, per array of a scan; between two arrays other requests may run. */
const recordsAtOnceMax = 1024;
const bytesAtOnceMax = 512 * 1024;
/** Units of event-loop time (`base/loop-share.ts`) per record of a scan. A record costs little,
 *  because most records of a listing are found in the render cache. */
const unitsPerRecord = 0.25;
const bytesPerUnit = 4096;

/** Reads and decodes the records of one view (a state of the store) or transaction. */
export class Records implements RecordView {
  readonly #view: View | Transaction;
  readonly #content: ContentStore;
  readonly #decoded: Map<Uint8Array, unknown> | undefined;
  readonly #renderings: RenderCache | undefined;

  constructor(
    view: View | Transaction,
    content: ContentStore,
    { decoded, renderings }: RecordsOptions = {},
  ) {
    this.#view = view;
    this.#content = content;
    this.#decoded = decoded;
    this.#renderings = renderings;
  }

  get loop(): LoopShare {
    return this.#content.loop;
  }

  get now(): Ticks {
    return this.#view.now;
  }

  get<K, R>(table: Table<K, R>, key: K): Awaitable<R | undefined> {
    const value = this.#view.get(table.key(key));
    if (value instanceof Promise) return value.then((later) => this.#decode(table, later));
    return this.#decode(table, value);
  }

  #decode<K, R>(table: Table<K, R>, value: Uint8Array | undefined): R | undefined {
    if (value === undefined) return undefined;
    const cached = this.#decoded?.get(value);
    if (cached !== undefined) return cached as R;
    const record = table.codec.decode(value);
    this.#decoded?.set(value, record);
    return record;
  }

  async *scan<K, R>(table: Table<K, R>, bounds: Bounds): AsyncIterable<readonly Scanned<R>[]> {
    // Counted before the first record, too: a caller that needs only the first one leaves the loop
    // at `yield`.
    const firstWait = this.loop.spend(1);
    if (firstWait !== undefined) await firstWait;
    for await (const entries of this.#view.range(bounds)) {
      let bytes = 0;
      let records: ScannedRecord<R>[] = [];
      for (const entry of entries) {
        records.push(new ScannedRecord(entry, table.codec));
        bytes += entry.value.length;
        if (records.length < recordsAtOnceMax && bytes < bytesAtOnceMax) continue;
        yield records;
        const wait = this.loop.spend(records.length * unitsPerRecord + bytes / bytesPerUnit);
        if (wait !== undefined) await wait;
        records = [];
        bytes = 0;
      }
      if (records.length === 0) continue;
      yield records;
      const wait = this.loop.spend(records.length * unitsPerRecord + bytes / bytesPerUnit);
      if (wait !== undefined) await wait;
    }
  }

  readHead<K, R>(table: Table<K, R>, bounds: LimitedBounds): Awaitable<readonly Scanned<R>[]> {
    return mapAwaitable(this.#view.readHead(bounds), (entries) =>
      entries.map((entry) => new ScannedRecord(entry, table.codec)),
    );
  }

  renderCached<R>(
    entry: Scanned<R>,
    variant: number,
    render: () => Rendered | undefined,
  ): string | undefined {
    const renderings = this.#renderings;
    if (renderings === undefined || !(entry instanceof ScannedRecord)) return render()?.text;
    const { text: key, revision } = entry.entry;
    if (key === undefined || revision === undefined) return render()?.text;
    const cached = renderings.get(key, revision, variant);
    if (cached !== undefined) return cached;
    const rendered = render();
    if (rendered?.isCacheable === true)
      renderings.set(key, { revision, variant: variant, text: rendered.text });
    return rendered?.text;
  }

  count(counter: Uint8Array, isExact = false): Awaitable<bigint> {
    const view = this.#view;
    const found = "peek" in view && !isExact ? view.peek(counter) : view.get(counter);
    return mapAwaitable(found, decodeCounter);
  }

  slices(ref: ContentRef, from: number, length: number): AsyncIterable<readonly Slice[]> {
    const slices = this.#content.slices(this.#view, ref, from, length);
    // Content that is no tree has at most as many slices as fit into a record, so no division is
    // needed.
    return ref.kind === "tree" ? this.#inPieces(slices) : slices;
  }

  async *#inPieces(all: AsyncIterable<readonly Slice[]>): AsyncIterable<readonly Slice[]> {
    for await (const slices of all) {
      yield slices;
      const wait = this.loop.spend(slices.length);
      if (wait !== undefined) await wait;
    }
  }
}
