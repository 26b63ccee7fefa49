import type { VersionedEntry } from "../engine.ts";
import type { KeyText } from "../key-text.ts";
import type { Value } from "../store.ts";

/** Entries in each of two generations; an entry not used during a whole generation is evicted. */
const entriesMax = 4096;
/** Longer values are not cached: they hold content, not references to other keys. */
const valueBytesMax = 4096;

interface Known {
  readonly revision: number;
  readonly value: Value;
}

/** Cache of recently read values, possibly stale. Used only to predict which keys an operation
 *  reads, never as its input. */
export class ReadCache {
  #young = new Map<KeyText, Known>();
  #old = new Map<KeyText, Known>();

  get(text: KeyText): Value | undefined {
    return this.#find(text)?.value;
  }

  put({ text, revision, value }: VersionedEntry): void {
    if (value.length > valueBytesMax || this.#find(text)?.revision === revision) return;
    // A copy: the value is a part of the buffer of the whole result.
    this.#keep(text, { revision, value: value.slice() });
  }

  delete(text: KeyText): void {
    this.#young.delete(text);
    this.#old.delete(text);
  }

  #find(text: KeyText): Known | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    if (old !== undefined) this.#keep(text, old);
    return old;
  }

  #keep(text: KeyText, known: Known): void {
    if (this.#young.size >= entriesMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, known);
  }
}
