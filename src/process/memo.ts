import { RecentMap } from "./recent-map.ts";

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

/** As `memo`, for an object; the result is kept as long as the object exists. */
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
