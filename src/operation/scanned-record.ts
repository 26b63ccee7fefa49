import type { RecordCodec } from "../encoding/record.ts";
import type { Scanned } from "./view.ts";
import type { Entry } from "../store/store.ts";

/** An entry of a scan whose record is decoded on first access. */
export class ScannedRecord<R> implements Scanned<R> {
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
