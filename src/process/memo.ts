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

interface RecentOptions<V, K> {
  /** The weight of an entry; without it each weighs 1. */
  readonly weigh?: (key: K, value: V) => number;
  /** Returns the value that replaces one that is moved from the old map to the young one, of the
   *  same weight: a copy, if values share memory with others that were added at the same time, and
   *  would keep it. */
  readonly renew?: (value: V) => V;
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
  readonly #options: RecentOptions<V, K>;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #youngWeight = 0;

  /** `max` limits the total weight. An entry heavier than one of the two maps may be (half of
   *  `max`) is not kept. */
  constructor(max: number, options: RecentOptions<V, K> = {}) {
    const isWeighed = options.weigh !== undefined;
    this.#mapWeightMax = isWeighed ? max / 2 : Math.max(1, Math.floor(max / 2));
    this.#options = options;
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older === undefined) return undefined;
    const renewed = this.#options.renew?.(older) ?? older;
    this.set(key, renewed);
    return renewed;
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
    return this.#options.weigh?.(key, value) ?? 1;
  }
}

interface LruOptions<V> {
  /** Limit of the total weight of the entries. */
  readonly weightMax: number;
  readonly weigh: (value: V) => number;
  /** Called with each value that leaves the cache, or is too heavy for it. */
  readonly onRemove?: (value: V) => void;
}

interface LruEntry<V, K> {
  readonly key: K;
  readonly value: V;
  readonly weight: number;
  older: LruEntry<V, K> | undefined;
  newer: LruEntry<V, K> | undefined;
}

/** A cache that evicts exactly the entries that were used longest ago, one by one. For values of
 *  many bytes: the whole limit is used, and a value can be freed when it is evicted.
 *
 *  Its entries are a list by last use. The order of a `Map` would do without one, but V8 finds the
 *  first entry by skipping all that were deleted before it, which takes 5 µs in a cache of 12,000
 *  entries; an iterator that is kept instead keeps every earlier table of the map in memory until
 *  the next eviction. */
export class LruMap<V, K = string> {
  readonly #options: LruOptions<V>;
  readonly #entries = new Map<K, LruEntry<V, K>>();
  #oldest: LruEntry<V, K> | undefined;
  #newest: LruEntry<V, K> | undefined;
  #weight = 0;

  constructor(options: LruOptions<V>) {
    this.#options = options;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#append(entry);
    }
    return entry.value;
  }

  /** A value that alone exceeds the limit is not kept, and evicts nothing but the value that it
   *  replaces. */
  set(key: K, value: V): void {
    if (this.get(key) === value) return;
    this.delete(key);
    const { weightMax, weigh, onRemove } = this.#options;
    const weight = weigh(value);
    if (weight > weightMax) {
      onRemove?.(value);
      return;
    }
    while (this.#oldest !== undefined && this.#weight + weight > weightMax) {
      this.#remove(this.#oldest);
    }
    const entry = { key, value, weight, older: undefined, newer: undefined };
    this.#entries.set(key, entry);
    this.#append(entry);
    this.#weight += weight;
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(entry);
  }

  #remove(entry: LruEntry<V, K>): void {
    this.#entries.delete(entry.key);
    this.#unlink(entry);
    this.#weight -= entry.weight;
    this.#options.onRemove?.(entry.value);
  }

  #append(entry: LruEntry<V, K>): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink({ older, newer }: LruEntry<V, K>): void {
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
  }
}
