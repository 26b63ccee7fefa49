import { successor } from "../../encoding/keys.ts";
import type { DefinedTable } from "../../encoding/table.ts";
import type { RecordView } from "../../operation/view.ts";

// Number of keys per read: starts with the first and doubles up to the second.
const batchMin = 16;
const batchMax = 1024;

/** A cursor over a range of a tag index. It compares the rests of keys after `prefix` (tag and
 *  value), so that cursors over different tags can be joined. */
export class TagCursor<K, R> {
  readonly #view: RecordView;
  readonly #table: DefinedTable<K, R>;
  readonly #prefix: Uint8Array;
  readonly #end: Uint8Array;
  #start: Uint8Array;
  #batch = batchMin;
  #keys: readonly Uint8Array[] = [];
  #at = 0;
  #exhausted = false;
  /** Number of index entries that were read or skipped. */
  examined = 0;

  constructor(
    view: RecordView,
    table: DefinedTable<K, R>,
    prefix: Uint8Array,
    bounds: { readonly start: Uint8Array; readonly end: Uint8Array },
  ) {
    this.#view = view;
    this.#table = table;
    this.#prefix = prefix;
    this.#start = bounds.start;
    this.#end = bounds.end;
  }

  /** The rest of the current key; undefined at the end. */
  async suffix(): Promise<Uint8Array | undefined> {
    if (this.#at >= this.#keys.length) await this.#fill();
    return this.#keys[this.#at]?.subarray(this.#prefix.length);
  }

  step(): void {
    this.#at += 1;
    this.examined += 1;
  }

  /** Moves to the first key whose rest is not smaller. If that is not buffered, the next read
   *  starts there. */
  seek(suffix: Uint8Array): void {
    const wanted = Buffer.concat([this.#prefix, suffix]);
    this.examined += 1;
    while (this.#at < this.#keys.length) {
      if (Buffer.compare(this.#keys[this.#at]!, wanted) >= 0) return;
      this.#at += 1;
    }
    if (Buffer.compare(wanted, this.#start) <= 0) return;
    this.#start = wanted;
    this.#batch = batchMin;
  }

  async #fill(): Promise<void> {
    this.#keys = [];
    this.#at = 0;
    if (this.#exhausted || Buffer.compare(this.#start, this.#end) >= 0) return;
    const keys: Uint8Array[] = [];
    const bounds = { start: this.#start, end: this.#end, limit: this.#batch };
    for await (const found of this.#view.scan(this.#table, bounds)) {
      for (const { key } of found) keys.push(key);
    }
    this.#keys = keys;
    this.#exhausted = keys.length < this.#batch;
    const last = keys.at(-1);
    if (last !== undefined) this.#start = successor(last);
    this.#batch = Math.min(this.#batch * 2, batchMax);
  }
}
