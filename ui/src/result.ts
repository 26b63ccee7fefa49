/** A rejected request; `status` is 0 if the server could not be reached. */
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

/** Applies `change` to the value; a failure is passed on. */
export function mapped<T, U>(result: Result<T>, change: (value: T) => U): Result<U> {
  return result.ok ? done(change(result.value)) : result;
}
