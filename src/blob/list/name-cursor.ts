import type { DefinedTable } from "../../core/table.ts";
import type { RecordView, Scanned } from "../../core/view.ts";

/** A position among the records of one container in one table, ordered by name. */
export class NameCursor<K, R> {
  readonly #view: RecordView;
  readonly #table: DefinedTable<K, R>;
  readonly #end: Uint8Array;
  readonly #batchMax: number;
  #start: Uint8Array;
  #buffer: readonly Scanned<R>[] = [];
  #at = 0;
  #exhausted = false;

  constructor(
    view: RecordView,
    table: DefinedTable<K, R>,
    bounds: { readonly start: Uint8Array; readonly end: Uint8Array },
    batchMax: number,
  ) {
    this.#view = view;
    this.#table = table;
    this.#start = bounds.start;
    this.#end = bounds.end;
    this.#batchMax = batchMax;
  }

  /** The record under the cursor, without moving. */
  async peek(): Promise<(Scanned<R> & { readonly name: string }) | undefined> {
    if (this.#at >= this.#buffer.length) await this.#fill();
    const entry = this.#buffer[this.#at];
    return entry && { ...entry, name: this.#table.parts(entry.key)[1] as string };
  }

  step(): void {
    this.#at += 1;
  }

  /** Moves forward to the first key that is not below `start`. */
  seek(start: Uint8Array): void {
    while (this.#at < this.#buffer.length) {
      if (Buffer.compare(this.#buffer[this.#at]!.key, start) >= 0) return;
      this.#at += 1;
    }
    if (Buffer.compare(start, this.#start) <= 0) return;
    this.#start = start;
    this.#exhausted = Buffer.compare(start, this.#end) >= 0;
  }

  async #fill(): Promise<void> {
    this.#buffer = [];
    this.#at = 0;
    if (this.#exhausted) return;
    const bounds = { start: this.#start, end: this.#end, limit: this.#batchMax };
    const collected: Scanned<R>[] = [];
    for await (const batch of this.#view.scan(this.#table, bounds)) collected.push(...batch);
    this.#buffer = collected;
    const last = collected.at(-1);
    if (last === undefined || collected.length < this.#batchMax) this.#exhausted = true;
    if (last !== undefined) this.#start = after(last.key);
  }
}

function after(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
