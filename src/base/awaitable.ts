/** What an engine in this process has at once, and one elsewhere only later. Waiting for what is
 *  there already costs more than most decisions, so the hot path waits only for promises. */
export type Awaitable<T> = T | Promise<T>;

/** What cannot be had is told in the same way, at once or later. */
export function tryAwaitable<T>(take: () => Awaitable<T>): Awaitable<T> {
  try {
    return take();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Goes on with the value: at once if it is there. */
export function mapAwaitable<T, U>(
  value: Awaitable<T>,
  goOn: (value: T) => Awaitable<U>,
): Awaitable<U> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}

/** All of them: at once if none is a promise. */
export function allAwaitable<T>(values: readonly Awaitable<T>[]): Awaitable<readonly T[]> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values)
    : (values as readonly T[]);
}
