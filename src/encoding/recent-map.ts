/**
 * A bounded cache that evicts entries not used recently; the only implementation of that kind.
 *
 * It has two generations instead of a list ordered by use: when the young generation is full it
 * becomes the old one, and the previous old one is dropped. A hit in the old generation moves the
 * entry to the young one. A hit therefore costs one or two lookups and allocates nothing, and at
 * least the last half of the bound is always kept.
 *
 * Example with a bound of 4: after a, b, c the generations are {c} and {a, b}. A hit on a makes
 * them {c, a} and {a, b}; then d makes them {d} and {c, a}, and b is gone.
 */
export class RecentMap<V, K = string> {
  readonly #generationMax: number;
  readonly #weigh: ((key: K, value: V) => number) | undefined;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #youngWeight = 0;

  /** `max` bounds the total weight; without `weigh` each entry counts 1. An entry heavier than a
   *  generation (half of `max`) is not kept. */
  constructor(max: number, weigh?: (key: K, value: V) => number) {
    this.#generationMax = weigh === undefined ? Math.max(1, Math.floor(max / 2)) : max / 2;
    this.#weigh = weigh;
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: K, value: V): void {
    this.#removeYoung(key);
    const weight = this.#weightOf(key, value);
    if (weight > this.#generationMax) {
      this.#old.delete(key);
      return;
    }
    if (this.#youngWeight + weight > this.#generationMax) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngWeight = 0;
    }
    this.#young.set(key, value);
    this.#youngWeight += weight;
  }

  delete(key: K): void {
    this.#removeYoung(key);
    this.#old.delete(key);
  }

  /** Entries in both generations; one that was moved to the young one counts twice. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #removeYoung(key: K): void {
    const value = this.#young.get(key);
    if (value === undefined) return;
    this.#youngWeight -= this.#weightOf(key, value);
    this.#young.delete(key);
  }

  #weightOf(key: K, value: V): number {
    return this.#weigh === undefined ? 1 : this.#weigh(key, value);
  }
}
