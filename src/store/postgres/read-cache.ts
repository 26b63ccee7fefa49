import { RecentMap } from "../../encoding/recent-map.ts";
import type { VersionedEntry } from "../engine.ts";
import type { KeyText } from "../key-text.ts";
import type { Value } from "../store.ts";

/** Entries of the cache. */
const entriesMax = 8192;
/** Longer values are not cached: they contain content, not references to other keys. */
const valueBytesMax = 4096;

interface CachedValue {
  readonly revision: number;
  readonly value: Value;
}

/** Cache of recently read values, possibly stale. Used only to predict which keys an operation
 *  reads, never as its input. */
export class ReadCache {
  readonly #recent = new RecentMap<CachedValue>(entriesMax);

  get(text: KeyText): Value | undefined {
    return this.#recent.get(text)?.value;
  }

  put({ text, revision, value }: VersionedEntry): void {
    if (value.length > valueBytesMax || this.#recent.get(text)?.revision === revision) return;
    // Copies the value, which is a part of the buffer of the whole result.
    this.#recent.set(text, { revision, value: value.slice() });
  }

  delete(text: KeyText): void {
    this.#recent.delete(text);
  }
}
