/** A value, or a promise of one. Engines in this process (memory, LMDB) return values, the
 *  PostgreSQL engine returns promises. Awaiting an available value costs more than most decisions,
 *  so frequently executed code awaits only promises. Saves 5 to 9 % of a read's CPU time. */
export type Awaitable<T> = T | Promise<T>;

/** Calls `read` and converts a synchronous exception into a rejected promise, so that callers
 *  handle both kinds of engine alike. */
export function tryAwaitable<T>(read: () => Awaitable<T>): Awaitable<T> {
  try {
    return read();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Calls `apply` with the value: at once, unless `value` is a promise. In place of `await`, which
 *  always costs an iteration of the microtask queue. */
export function mapAwaitable<T, U>(
  value: Awaitable<T>,
  apply: (value: T) => Awaitable<U>,
): Awaitable<U> {
  return value instanceof Promise ? value.then(apply) : apply(value);
}

/** Like `Promise.all`, but returns the array itself if none of the values is a promise. */
export function allAwaitable<T>(values: readonly Awaitable<T>[]): Awaitable<readonly T[]> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values)
    : (values as readonly T[]);
}
