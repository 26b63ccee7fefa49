import type { VersionedEntry } from "../engine.ts";
import type { KeyText } from "../key-text.ts";
import type { Value } from "../store.ts";

/** In each of two generations: what was not asked for during a whole one is forgotten. */
const entriesMax = 4096;
/** Longer ones lead nowhere: they are contents, not places. */
const valueBytesMax = 4096;

interface Known {
  readonly revision: number;
  readonly value: Value;
}

/** What this node has read of late. It may be wrong by now: it only serves to guess which keys will
 *  be asked for next. */
export class ReadCache {
  #young = new Map<KeyText, Known>();
  #old = new Map<KeyText, Known>();

  get(text: KeyText): Value | undefined {
    return this.#find(text)?.value;
  }

  put({ text, revision, value }: VersionedEntry): void {
    if (value.length > valueBytesMax || this.#find(text)?.revision === revision) return;
    // A copy, because the bytes are a part of all that came with them.
    this.#keep(text, { revision, value: value.slice() });
  }

  forget(text: KeyText): void {
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
