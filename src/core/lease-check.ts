import { leaseLost, leaseMismatch, leaseMissing, leaseNotPresent } from "./lease-faults.ts";
import { leaseState } from "./lease.ts";
import type { Lease, LeaseKind } from "./lease.ts";
import { ok, type Result } from "./result.ts";
import type { Ticks } from "./ticks.ts";

/** `match-if-leased` is for writes, `match-if-given` for reads and for containers but delete. */
export type LeaseCheckPolicy = "match-if-leased" | "match-if-given" | "none";

const passed = ok(undefined);

/** Whether a data operation that names `givenId` (canonical, or none) may go ahead. */
export function checkLease(
  lease: Lease | undefined,
  givenId: string | undefined,
  policy: LeaseCheckPolicy,
  kind: LeaseKind,
  now: Ticks,
): Result<undefined> {
  if (policy === "none") return passed;
  const state = leaseState(lease, now);
  const locked = state === "leased" || state === "breaking";
  if (givenId === undefined) {
    return locked && policy === "match-if-leased" ? leaseMissing(kind) : passed;
  }
  if (lease === undefined) return leaseNotPresent(kind, "operation");
  if (!locked) return leaseLost(kind);
  return lease.id === givenId ? passed : leaseMismatch(kind, "operation");
}
