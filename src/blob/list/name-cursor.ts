import { successor } from "../../encoding/keys.ts";
import type { DefinedTable } from "../../encoding/table.ts";
import type { RecordView, Scanned } from "../../operation/view.ts";

/** The key range of a cursor. */
export interface CursorBounds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  /** Records per read. Reads start with `batchMin` and double up to `batchMax`; a seek starts again
   *  with `batchMin`. */
  readonly batchMin: number;
  readonly batchMax: number;
}

/** A cursor over the records of one container in one table, in the order of names. */
export class NameCursor<K, R> {
  readonly #view: RecordView;
  readonly #table: DefinedTable<K, R>;
  readonly #bounds: CursorBounds;
  #start: Uint8Array;
  #batch: number;
  #buffer: readonly Scanned<R>[] = [];
  #at = 0;
  #exhausted = false;
  #name: string | undefined;

  constructor(view: RecordView, table: DefinedTable<K, R>, bounds: CursorBounds) {
    this.#view = view;
    this.#table = table;
    this.#bounds = bounds;
    this.#start = bounds.start;
    this.#batch = bounds.batchMin;
  }

  /** Whether all buffered records are used and `fill` may find more. */
  get isDrained(): boolean {
    return this.#at >= this.#buffer.length && !this.#exhausted;
  }

  /** The record at the cursor; undefined at the end or if `fill` is needed. */
  get current(): Scanned<R> | undefined {
    return this.#buffer[this.#at];
  }

  /** The name of the record at the cursor. */
  get name(): string | undefined {
    const entry = this.#buffer[this.#at];
    if (entry === undefined) return undefined;
    this.#name ??= this.#table.parts(entry.key)[1] as string;
    return this.#name;
  }

  /** Moves to the next record. */
  step(): void {
    this.#at += 1;
    this.#name = undefined;
  }

  /** Moves forward to the first key that is not smaller than `start`. */
  seek(start: Uint8Array): void {
    while (this.#at < this.#buffer.length) {
      if (Buffer.compare(this.#buffer[this.#at]!.key, start) >= 0) return;
      this.step();
    }
    if (Buffer.compare(start, this.#start) <= 0) return;
    this.#start = start;
    this.#batch = this.#bounds.batchMin;
    this.#exhausted = Buffer.compare(start, this.#bounds.end) >= 0;
  }

  /** Reads the next batch of records into the buffer. */
  async fill(): Promise<void> {
    const limit = this.#batch;
    const collected: Scanned<R>[] = [];
    const bounds = { start: this.#start, end: this.#bounds.end, limit };
    for await (const batch of this.#view.scan(this.#table, bounds)) {
      for (const entry of batch) collected.push(entry);
    }
    this.#buffer = collected;
    this.#at = 0;
    this.#name = undefined;
    this.#batch = Math.min(limit * 2, this.#bounds.batchMax);
    const last = collected.at(-1);
    if (last !== undefined) this.#start = successor(last.key);
    this.#exhausted = collected.length < limit;
  }
}
