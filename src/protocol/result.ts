import type { Fault, FaultCode, FaultDetail } from "./faults.ts";

/** A value, or the fault that the client gets. Faults are returned and never thrown: what is thrown
 *  is a bug or an outage (`StoreUnavailable`, `StoreBusy`, `SourceUnreachable`). */
export type Result<T> = { readonly ok: true; readonly value: T } | Failure;

export type Failure = { readonly ok: false; readonly fault: Fault };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function fail(code: FaultCode, detail?: FaultDetail): Failure {
  return { ok: false, fault: detail === undefined ? { code } : { code, detail } };
}
