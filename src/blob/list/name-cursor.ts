import { successor } from "../../encoding/keys.ts";
import type { DefinedTable } from "../../encoding/table.ts";
import type { RecordView, Scanned } from "../../operation/view.ts";

export interface CursorBounds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  /** Records per read: starts with `batchMin` and doubles up to `batchMax`; a jump resets it. */
  readonly batchMin: number;
  readonly batchMax: number;
}

/** A position among the records of one container in one table, ordered by name. */
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

  /** Whether the buffer is used up and `fill` may find more records. */
  get isDrained(): boolean {
    return this.#at >= this.#buffer.length && !this.#exhausted;
  }

  /** The record under the cursor, without moving. */
  get current(): Scanned<R> | undefined {
    return this.#buffer[this.#at];
  }

  /** The name of the record under the cursor. */
  get name(): string | undefined {
    const entry = this.#buffer[this.#at];
    if (entry === undefined) return undefined;
    this.#name ??= this.#table.parts(entry.key)[1] as string;
    return this.#name;
  }

  step(): void {
    this.#at += 1;
    this.#name = undefined;
  }

  /** Moves forward to the first key that is not below `start`. */
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
