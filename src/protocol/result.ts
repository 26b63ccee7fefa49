import type { Fault, FaultCode, FaultDetail } from "./faults.ts";

/** An expected failure is a value; `throw` means a bug. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Fault };

export type Failure = { readonly ok: false; readonly fault: Fault };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function fail(code: FaultCode, detail?: FaultDetail): Failure {
  return { ok: false, fault: detail === undefined ? { code } : { code, detail } };
}
