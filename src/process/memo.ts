/** Caches of computed values, as of parsed headers, that all servers of the process share. */

/** Returns `compute` with a memory of its results, of which about `entriesMax` are kept, those used
 *  last. They must depend on the argument alone: all servers of the process share them. A result
 *  that is undefined is not kept. */
export function memo<K extends string | number, V>(
  entriesMax: number,
  compute: (key: K) => V,
): (key: K) => V {
  const kept = new RecentMap<V, K>(entriesMax);
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = compute(key);
    kept.set(key, made);
    return made;
  };
}

/** Like `memo`, for an object as key. The result is kept as long as the object exists. */
export function memoByObject<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const kept = new WeakMap<K, V>();
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = compute(key);
    kept.set(key, made);
    return made;
  };
}

/** Returns a function whose first call creates an object, which all calls return: a parser or a
 *  writer that is used again. Only code that runs without an await in between may use it. */
export function once<T extends object>(create: () => T): () => T {
  let created: T | undefined;
  return () => (created ??= create());
}

/**
 * A cache with a limit that evicts entries not used recently, the usual one: `LruMap` below is for
 * large values, of which none may be evicted early.
 *
 * Instead of a list ordered by use it has two maps. When the young map is full it replaces the old
 * one, whose entries are dropped. A hit in the old map adds the entry to the young one. A hit
 * therefore costs one or two look-ups and allocates nothing, and the entries used last, up to half
 * of the limit, are always kept.
 *
 * Example with a limit of 4: after a, b, c the maps are young {c} and old {a, b}. A hit on a makes
 * them {c, a} and {a, b}; then d makes them {d} and {c, a}, and b is evicted.
 */
export class RecentMap<V, K = string> {
  readonly #mapWeightMax: number;
  readonly #weigh: ((key: K, value: V) => number) | undefined;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #youngWeight = 0;

  /** `max` limits the total weight; without `weigh` each entry weighs 1. An entry heavier than one
   *  of the two maps may be (half of `max`) is not kept. */
  constructor(max: number, weigh?: (key: K, value: V) => number) {
    this.#mapWeightMax = weigh === undefined ? Math.max(1, Math.floor(max / 2)) : max / 2;
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
    if (weight > this.#mapWeightMax) {
      this.#old.delete(key);
      return;
    }
    if (this.#youngWeight + weight > this.#mapWeightMax) {
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

  /** Number of entries in both maps; an entry that is in both counts twice. */
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

interface LruOptions<V> {
  /** Limit of the total weight of the entries. */
  readonly weightMax: number;
  readonly weigh: (value: V) => number;
  /** Called with each value that leaves the cache. */
  readonly onRemove?: (value: V) => void;
}

/** A cache that evicts exactly the entries that were used longest ago, one by one. For values of
 *  many bytes: the whole limit is used, and a value can be freed when it is evicted. */
export class LruMap<V, K = string> {
  readonly #options: LruOptions<V>;
  /** Ordered by last use: `get` moves an entry to the end. */
  readonly #entries = new Map<K, V>();
  #weight = 0;

  constructor(options: LruOptions<V>) {
    this.#options = options;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** An entry that alone exceeds the limit is evicted at once. */
  set(key: K, value: V): void {
    this.delete(key);
    this.#entries.set(key, value);
    this.#weight += this.#options.weigh(value);
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#options.weightMax) break;
      this.delete(oldest);
    }
  }

  delete(key: K): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#weight -= this.#options.weigh(value);
    this.#options.onRemove?.(value);
  }
}
