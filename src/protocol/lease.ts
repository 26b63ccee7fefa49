import { leaseLost, leaseMismatch, leaseMissing, leaseNotPresent } from "./lease-faults.ts";
import { ok, type Result } from "./result.ts";
import { ticksFromSeconds, wholeSeconds } from "../base/ticks.ts";
import type { Ticks } from "../base/ticks.ts";

/** What is leased: the rules are nearly the same, codes and texts are not. */
export type LeaseKind = "blob" | "container" | "file" | "share";

export const infiniteLeaseSeconds = -1;

/**
 * A lease that was taken and not released; `undefined` is the state "available". Which of the other
 * four states it is in depends on the moment it is looked at, so no timer has to run:
 * broken once `breaksAt` is past, breaking before it; expired once `expiresAt` is past, else
 * leased.
 */
export interface Lease {
  /** Canonical lower-case GUID. */
  readonly id: string;
  /** As acquired, for renewals; `infiniteLeaseSeconds` has no `expiresAt`. */
  readonly durationSeconds: number;
  readonly expiresAt?: Ticks;
  /** Set by a break; from then on the lease can neither be renewed nor changed. */
  readonly breaksAt?: Ticks;
}

export type LeaseState = "available" | "leased" | "expired" | "breaking" | "broken";

export function leaseState(lease: Lease | undefined, now: Ticks): LeaseState {
  if (lease === undefined) return "available";
  if (lease.breaksAt !== undefined) return now >= lease.breaksAt ? "broken" : "breaking";
  return lease.expiresAt !== undefined && now >= lease.expiresAt ? "expired" : "leased";
}

export function isLocked(lease: Lease | undefined, now: Ticks): boolean {
  const state = leaseState(lease, now);
  return state === "leased" || state === "breaking";
}

export interface LeaseProperties {
  readonly status: "locked" | "unlocked";
  readonly state: LeaseState;
  /** Only told while leased. */
  readonly duration?: "infinite" | "fixed";
}

/** What reads and listings show. */
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

/**
 * A successful write makes a blob or file forget a lease that has ended, so that a later renewal
 * cannot pretend nothing happened in between. Containers and shares remember it.
 */
export function afterWrite(
  lease: Lease | undefined,
  now: Ticks,
  kind: LeaseKind = "blob",
): Lease | undefined {
  if (kind === "container" || kind === "share") return lease;
  return isLocked(lease, now) ? lease : undefined;
}

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
