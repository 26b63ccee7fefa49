/** What a server refused, or that it could not be reached (`status` 0). */
export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

export function done<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function failed<T>(failure: Failure): Result<T> {
  return { ok: false, failure };
}

/** The first failure, or all values: for things that only make sense together. */
export function mapped<T, U>(result: Result<T>, change: (value: T) => U): Result<U> {
  return result.ok ? done(change(result.value)) : result;
}
