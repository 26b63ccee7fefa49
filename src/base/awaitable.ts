/** A value, or a promise of it. Engines in this process return values, PostgreSQL returns
 *  promises. Awaiting an available value costs more than most decisions, so hot paths await
 *  only promises. Among the effective optimisations of docs/bench/README.md, which has no
 *  separate figure for it. */
export type Awaitable<T> = T | Promise<T>;

/** Converts a synchronous throw into a rejected promise, so that callers handle local and remote
 *  engines alike. */
export function tryAwaitable<T>(read: () => Awaitable<T>): Awaitable<T> {
  try {
    return read();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Calls `apply` with the value: synchronously, unless `value` is a promise. */
export function mapAwaitable<T, U>(
  value: Awaitable<T>,
  apply: (value: T) => Awaitable<U>,
): Awaitable<U> {
  return value instanceof Promise ? value.then(apply) : apply(value);
}

/** As `Promise.all`, but returns the array itself if none of the values is a promise. */
export function allAwaitable<T>(values: readonly Awaitable<T>[]): Awaitable<readonly T[]> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values)
    : (values as readonly T[]);
}
