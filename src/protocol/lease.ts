import { leaseLost, leaseMismatch, leaseMissing, leaseNotPresent } from "./lease-faults.ts";
import { ok, type Result } from "./result.ts";
import { ticksFromSeconds, wholeSeconds } from "../base/ticks.ts";
import type { Ticks } from "../base/ticks.ts";

/** The kind of a leased resource. The rules are nearly the same for all kinds; fault codes and
 *  texts differ. */
export type LeaseKind = "blob" | "container" | "file" | "share";

/** Value of `x-ms-lease-duration` and `durationSeconds` for a lease that does not expire. */
export const infiniteLeaseSeconds = -1;

/** A lease that was acquired and not released. Undefined is the state "available". The other four
 *  states follow from the current time, so that no timer is needed: broken from `breaksAt` on,
 *  breaking before it; expired from `expiresAt` on, else leased. */
export interface Lease {
  /** Canonical lower-case GUID. */
  readonly id: string;
  /** The duration that a renewal starts again; `infiniteLeaseSeconds` for a lease that has no
   *  `expiresAt`. */
  readonly durationSeconds: number;
  readonly expiresAt?: Ticks;
  /** When a break takes effect; set by Break Lease. Once it is set, even before this time, Renew
   *  Lease and Change Lease fail. */
  readonly breaksAt?: Ticks;
}

export type LeaseState = "available" | "leased" | "expired" | "breaking" | "broken";

export function leaseState(lease: Lease | undefined, now: Ticks): LeaseState {
  if (lease === undefined) return "available";
  if (lease.breaksAt !== undefined) return now >= lease.breaksAt ? "broken" : "breaking";
  return lease.expiresAt !== undefined && now >= lease.expiresAt ? "expired" : "leased";
}

/** Whether a write needs the lease id. */
export function isLocked(lease: Lease | undefined, now: Ticks): boolean {
  const state = leaseState(lease, now);
  return state === "leased" || state === "breaking";
}

export interface LeaseProperties {
  readonly status: "locked" | "unlocked";
  readonly state: LeaseState;
  /** Only in the state "leased". */
  readonly duration?: "infinite" | "fixed";
}

/** The lease properties in responses to reads and in listings. */
export function leaseProperties(lease: Lease | undefined, now: Ticks): LeaseProperties {
  const state = leaseState(lease, now);
  const status = isLocked(lease, now) ? "locked" : "unlocked";
  if (lease === undefined || state !== "leased") return { status, state };
  return { status, state, duration: isInfinite(lease) ? "infinite" : "fixed" };
}

export function isInfinite(lease: Lease): boolean {
  return lease.durationSeconds === infiniteLeaseSeconds;
}

export function startLease(id: string, durationSeconds: number, now: Ticks): Lease {
  if (durationSeconds === infiniteLeaseSeconds) return { id, durationSeconds };
  return { id, durationSeconds, expiresAt: now + ticksFromSeconds(durationSeconds) };
}

export function remainingSeconds(until: Ticks, now: Ticks): number {
  return until > now ? wholeSeconds(until - now) : 0;
}

/** The lease after a successful write. A blob or file drops a lease that has ended, so that a later
 *  renewal cannot hide the write. Containers and shares keep it. */
export function afterWrite(
  lease: Lease | undefined,
  now: Ticks,
  kind: LeaseKind = "blob",
): Lease | undefined {
  if (kind === "container" || kind === "share") return lease;
  return isLocked(lease, now) ? lease : undefined;
}

/** How the lease id of a data operation is checked. `match-if-leased` is for writes;
 *  `match-if-given` for reads, and for operations on containers except Delete Container. */
export type LeaseCheckPolicy = "match-if-leased" | "match-if-given" | "none";

const passed = ok(undefined);

/** Checks whether a data operation with the lease id `givenId` (lower-case dashed, or undefined) is
 *  allowed. */
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
