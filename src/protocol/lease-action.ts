import {
  isInfinite,
  leaseMismatch,
  leaseNotPresent,
  leaseState,
  remainingSeconds,
  startLease,
  type Lease,
  type LeaseKind,
} from "./lease.ts";
import { fail, ok, type Failure, type Result } from "./result.ts";
import { ticksFromSeconds, type Ticks } from "../base/ticks.ts";

/** A parsed lease action. Ids are canonical: lower-case dashed GUIDs. */
export type LeaseAction =
  | { readonly action: "acquire"; readonly proposedId?: string; readonly durationSeconds: number }
  | { readonly action: "renew"; readonly id: string }
  | { readonly action: "change"; readonly id: string; readonly proposedId: string }
  | { readonly action: "release"; readonly id: string }
  | { readonly action: "break"; readonly periodSeconds?: number };

/** What the result of a lease action depends on besides the lease. */
interface LeaseActionContext {
  readonly now: Ticks;
  readonly kind: LeaseKind;
  /** The id of a new lease if the request proposes none. */
  readonly freshId: string;
}

/** The lease after an action. */
interface LeaseOutcome {
  /** Undefined: the lease state is "available". */
  readonly lease: Lease | undefined;
  /** Full seconds until the lease is broken; only set by a break. */
  readonly leaseTimeSeconds?: number;
}

/** Applies an action to a lease: returns the next lease, or a 409. Implements the state table of
 *  Azure's documentation. */
export function applyLeaseAction(
  lease: Lease | undefined,
  action: LeaseAction,
  context: LeaseActionContext,
): Result<LeaseOutcome> {
  switch (action.action) {
    case "acquire":
      return acquire(lease, action.proposedId, action.durationSeconds, context);
    case "renew":
      return renew(lease, action.id, context);
    case "change":
      return change(lease, action, context);
    case "release":
      if (lease?.id !== action.id) return leaseMismatch(context.kind, "action");
      return ok({ lease: undefined });
    case "break":
      return breakLease(lease, action.periodSeconds, context);
  }
}

function acquire(
  lease: Lease | undefined,
  proposedId: string | undefined,
  durationSeconds: number,
  { now, freshId }: LeaseActionContext,
): Result<LeaseOutcome> {
  const state = leaseState(lease, now);
  if (state === "leased" && proposedId !== lease?.id) return fail("LeaseAlreadyPresent");
  if (state === "breaking") {
    const own = proposedId === lease?.id;
    return fail(own ? "LeaseIsBreakingAndCannotBeAcquired" : "LeaseAlreadyPresent");
  }
  return ok({ lease: startLease(proposedId ?? freshId, durationSeconds, now) });
}

/** Renews a lease. An expired lease can be renewed, too: had the blob been written since, that
 *  write would have removed the lease. */
function renew(
  lease: Lease | undefined,
  id: string,
  { now, kind }: LeaseActionContext,
): Result<LeaseOutcome> {
  if (lease?.id !== id) return leaseMismatch(kind, "action");
  if (lease.breaksAt !== undefined) return fail("LeaseIsBrokenAndCannotBeRenewed");
  return ok({ lease: startLease(id, lease.durationSeconds, now) });
}

function change(
  lease: Lease | undefined,
  { id, proposedId }: { readonly id: string; readonly proposedId: string },
  { now, kind }: LeaseActionContext,
): Result<LeaseOutcome> {
  const state = leaseState(lease, now);
  if (lease === undefined || state === "broken" || state === "expired") {
    return leaseNotPresent(kind, "action");
  }
  if (state === "breaking") {
    return lease.id === id
      ? fail("LeaseIsBreakingAndCannotBeChanged")
      : leaseMismatch(kind, "action");
  }
  // The lease may already have the proposed id: a client repeats a change whose response was lost.
  if (lease.id !== id && lease.id !== proposedId) return leaseMismatch(kind, "action");
  return ok({ lease: { ...lease, id: proposedId } });
}

function breakLease(
  lease: Lease | undefined,
  periodSeconds: number | undefined,
  { now, kind }: LeaseActionContext,
): Result<LeaseOutcome> {
  if (lease === undefined) return leaseNotPresent(kind, "action");
  const breaksAt = kind === "file" ? now : breakTime(lease, periodSeconds, now);
  return ok({
    lease: { ...lease, breaksAt },
    leaseTimeSeconds: remainingSeconds(breaksAt, now),
  });
}

/** When a break takes effect. A break period never prolongs the remaining time of the lease or of
 *  an earlier break. */
function breakTime(lease: Lease, periodSeconds: number | undefined, now: Ticks): Ticks {
  const requested = periodSeconds === undefined ? undefined : now + ticksFromSeconds(periodSeconds);
  const endsAt = lease.breaksAt ?? lease.expiresAt;
  if (endsAt === undefined) return isInfinite(lease) ? (requested ?? now) : now;
  return requested === undefined || endsAt < requested ? endsAt : requested;
}

export const leaseReplyHeaders = ["x-ms-lease-id", "x-ms-lease-time"] as const;

interface Leasable {
  readonly lease?: Lease | undefined;
}

interface LeaseContext<T> {
  readonly target: T;
  readonly action: LeaseAction;
  readonly kind: LeaseKind;
  readonly now: Ticks;
  readonly newGuid: () => string;
}

const statuses = { acquire: 201, renew: 200, change: 200, release: 200, break: 202 } as const;

/** The reply of a lease action: the record to store (`put`), and as headers the lease id or, for a
 *  break, the seconds until the lease is broken. */
export function leaseReply<T extends Leasable>(context: LeaseContext<T>) {
  const { target, action, kind, now, newGuid } = context;
  const applied = applyLeaseAction(target.lease, action, { kind, now, freshId: newGuid() });
  if (!applied.ok) return applied satisfies Failure;
  const { lease, leaseTimeSeconds } = applied.value;
  const tellsId = action.action !== "break" && action.action !== "release";
  // Recorded: the release of a share lease returns a lease time of 0.
  const timeOfRelease = action.action === "release" && kind === "share" ? "0" : undefined;
  return {
    status: statuses[action.action],
    put: { ...target, lease },
    headers: {
      "x-ms-lease-id": tellsId ? lease?.id : undefined,
      "x-ms-lease-time": leaseTimeSeconds === undefined ? timeOfRelease : String(leaseTimeSeconds),
    },
  };
}
