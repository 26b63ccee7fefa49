import type { Fault, FaultCode, FaultDetail } from "./faults.ts";

/** The result type of everything that can fail because of a request, and the check of invariants,
 *  which fail only because of a bug. */

/** A value, or the fault that the client gets. Faults are returned and never thrown: what is thrown
 *  is a bug or an outage (`StoreUnavailable`, `StoreBusy`, `SourceUnreachable`). */
export type Result<T> = { readonly ok: true; readonly value: T } | Failure;

export type Failure = { readonly ok: false; readonly fault: Fault };

type Success<T> = { readonly ok: true; readonly value: T };

const nothing: Success<undefined> = { ok: true, value: undefined };

/** A successful result. Those without a value share one object: a request has dozens of them, from
 *  parameters that are absent and checks that pass. */
export function ok<T>(value: T): Success<T> {
  return value === undefined ? (nothing as Success<T>) : { ok: true, value };
}

export function fail(code: FaultCode, detail?: FaultDetail): Failure {
  return { ok: false, fault: detail === undefined ? { code } : { code, detail } };
}

/** Thrown if stored data would violate an invariant: a bug in this program. */
export class InvariantBroken extends Error {
  override readonly name = "InvariantBroken";
}

/** Checks an invariant before data is stored. If it does not hold, nothing is written, and the
 *  request is answered with 500 and logged. `describe` is called only then. */
export function ensure(holds: boolean, describe: () => string): asserts holds {
  if (!holds) throw new InvariantBroken(describe());
}
