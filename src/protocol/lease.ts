import { copyWith } from "../base/copy-with.ts";
import { fail, ok, type Failure, type Result } from "./result.ts";
import { ticksFromSeconds, wholeSeconds, type Ticks } from "../base/ticks.ts";
import { invalidHeader, missingHeader } from "./faults.ts";
import { parseGuid } from "./guid.ts";
import type { ParamReader } from "./params.ts";

/** Leases of blobs, containers, files and shares: states, the check of lease ids, and the actions
 *  acquire, renew, change, release and break. One set of rules for all kinds; `operation/check.ts`
 *  and the Lease operations use it. learn.microsoft.com/rest/api/storageservices/lease-blob */

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

/** The state of a lease at a time; `lease` is undefined for a resource without one. */
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

/** The lease after an acquisition. */
export function startLease(id: string, durationSeconds: number, now: Ticks): Lease {
  if (durationSeconds === infiniteLeaseSeconds) return { id, durationSeconds };
  return { id, durationSeconds, expiresAt: now + ticksFromSeconds(durationSeconds) };
}

function remainingSeconds(until: Ticks, now: Ticks): number {
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

/** Checks whether a data operation with the lease id `givenId` (lower-case dashed) is allowed. */
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

// Azure's limits of the duration of a lease that is not infinite.
const leaseSecondsMin = 15;
const leaseSecondsMax = 60;
/** Azure's limit of the time that a client may set for a break. */
const breakPeriodSecondsMax = 60;

type HeaderReader = Pick<ParamReader, "header">;

/** Parses a header with a lease id; returns the id as a lower-case dashed GUID, or undefined if the
 *  header is absent. */
export function parseLeaseId(
  reader: HeaderReader,
  name = "x-ms-lease-id",
): Result<string | undefined> {
  const text = reader.header(name);
  if (text === undefined || text === "") return ok(undefined);
  const id = parseGuid(text);
  return id === undefined ? invalidHeader(name, text) : ok(id);
}

/** Parses the headers of a Lease operation on this kind of resource. */
export function parseLeaseAction(reader: HeaderReader, kind: LeaseKind): Result<LeaseAction> {
  const name = "x-ms-lease-action";
  const text = reader.header(name);
  if (text === undefined || text === "") return missingHeader(name);
  switch (text.toLowerCase()) {
    case "acquire":
      return parseAcquire(reader, kind);
    case "renew":
      // File leases never expire, so they cannot be renewed.
      if (kind === "file") return invalidHeader(name, text);
      return withId(reader, (id) => ok({ action: "renew", id }));
    case "change":
      return withId(reader, (id) => parseChange(reader, id));
    case "release":
      return withId(reader, (id) => ok({ action: "release", id }));
    case "break":
      return parseBreak(reader);
    default:
      return invalidHeader(name, text);
  }
}

/** Parses the duration of a lease; undefined if a lease of this kind cannot have it. File leases
 *  are always infinite. */
export function leaseSeconds(text: string, kind: LeaseKind): number | undefined {
  const seconds = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  const finite = seconds >= leaseSecondsMin && seconds <= leaseSecondsMax && kind !== "file";
  return finite || seconds === infiniteLeaseSeconds ? seconds : undefined;
}

function parseAcquire(reader: HeaderReader, kind: LeaseKind): Result<LeaseAction> {
  const name = "x-ms-lease-duration";
  const text = reader.header(name);
  if (text === undefined || text === "") return missingHeader(name);
  const seconds = leaseSeconds(text, kind);
  if (seconds === undefined) return invalidHeader(name, text);
  const proposed = parseLeaseId(reader, "x-ms-proposed-lease-id");
  if (!proposed.ok) return proposed;
  const action = { action: "acquire", durationSeconds: seconds } as const;
  return ok(proposed.value === undefined ? action : { ...action, proposedId: proposed.value });
}

function parseChange(reader: HeaderReader, id: string): Result<LeaseAction> {
  const proposed = parseLeaseId(reader, "x-ms-proposed-lease-id");
  if (!proposed.ok) return proposed;
  if (proposed.value === undefined) return missingHeader("x-ms-proposed-lease-id");
  return ok({ action: "change", id, proposedId: proposed.value });
}

function parseBreak(reader: HeaderReader): Result<LeaseAction> {
  const name = "x-ms-lease-break-period";
  const text = reader.header(name);
  if (text === undefined || text === "") return ok({ action: "break" });
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= breakPeriodSecondsMax)) return invalidHeader(name, text);
  return ok({ action: "break", periodSeconds: seconds });
}

function withId(
  reader: HeaderReader,
  next: (id: string) => Result<LeaseAction>,
): Result<LeaseAction> {
  const id = parseLeaseId(reader);
  if (!id.ok) return id;
  return id.value === undefined ? missingHeader("x-ms-lease-id") : next(id.value);
}

const nouns: Readonly<Record<LeaseKind, string>> = {
  blob: "blob",
  container: "container",
  file: "file",
  share: "file share",
};

/** The kinds of resources as fault codes contain them. Shares have the codes of containers, and
 *  their own text. */
const codeNouns = {
  blob: "Blob",
  container: "Container",
  file: "File",
  share: "Container",
} as const;

/** The end of the code of a fault about a lease id: a data operation on the resource, or an
 *  operation on the lease itself. */
function codeEnd(kind: LeaseKind, during: "operation" | "action") {
  return during === "action" ? "LeaseOperation" : (`${codeNouns[kind]}Operation` as const);
}

/** The fault of a write without a lease id to a leased resource. */
function leaseMissing(kind: LeaseKind): Failure {
  const found = `There is currently a lease on the ${nouns[kind]}`;
  return fail("LeaseIdMissing", {
    message: `${found} and no lease ID was specified in the request.`,
  });
}

/** The fault of a request with the id of a lease that has ended. */
function leaseLost(kind: LeaseKind): Failure {
  const message = `A lease ID was specified, but the lease for the ${nouns[kind]} has expired.`;
  return fail("LeaseLost", { message });
}

/** The fault of a request with another lease id than the current one. `during` is `action` for a
 *  Lease operation, otherwise `operation`; the codes differ. */
function leaseMismatch(kind: LeaseKind, during: "operation" | "action"): Failure {
  const message = `The lease ID specified did not match the lease ID for the ${nouns[kind]}.`;
  return fail(`LeaseIdMismatchWith${codeEnd(kind, during)}`, { message });
}

/** The fault of a request with a lease id for a resource without a lease. `during` as in
 *  `leaseMismatch`. */
function leaseNotPresent(kind: LeaseKind, during: "operation" | "action"): Failure {
  const message = `There is currently no lease on the ${nouns[kind]}.`;
  return fail(`LeaseNotPresentWith${codeEnd(kind, during)}`, { message });
}

/** The headers with the state of a lease, in responses to reads. */
export function leaseHeaders(lease: Lease | undefined, now: Ticks) {
  const { status, state, duration } = leaseProperties(lease, now);
  return {
    "x-ms-lease-status": status,
    "x-ms-lease-state": state,
    "x-ms-lease-duration": duration,
  };
}

/** A parsed lease action. Ids are canonical: lower-case dashed GUIDs. */
export type LeaseAction =
  | { readonly action: "acquire"; readonly proposedId?: string; readonly durationSeconds: number }
  | { readonly action: "renew"; readonly id: string }
  | { readonly action: "change"; readonly id: string; readonly proposedId: string }
  | { readonly action: "release"; readonly id: string }
  | { readonly action: "break"; readonly periodSeconds?: number };

/** What a lease action is decided from beside the stored lease. */
interface LeaseActionContext {
  readonly now: Ticks;
  readonly kind: LeaseKind;
  /** The random id of a new lease; used if the request proposes none. */
  readonly freshId: string;
}

/** The result of a lease action: the lease that is stored. */
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

/** What a Lease operation on a record of type `T` is decided from: the record, the parsed action
 *  and a source of ids. */
interface LeaseRequest<T> extends Omit<LeaseActionContext, "freshId"> {
  readonly target: T;
  readonly action: LeaseAction;
  readonly newGuid: () => string;
}

const statuses = { acquire: 201, renew: 200, change: 200, release: 200, break: 202 } as const;

/** The reply of a lease action: the record to store (`put`), and as headers the lease id or, for a
 *  break, the seconds until the lease is broken. */
export function leaseReply<T extends { readonly lease?: Lease | undefined }>({
  target,
  action,
  kind,
  now,
  newGuid,
}: LeaseRequest<T>) {
  const applied = applyLeaseAction(target.lease, action, { kind, now, freshId: newGuid() });
  if (!applied.ok) return applied satisfies Failure;
  const { lease, leaseTimeSeconds } = applied.value;
  const returnsId = action.action !== "break" && action.action !== "release";
  // Recorded from Azure: the release of a share lease returns a lease time of 0.
  const timeOfRelease = action.action === "release" && kind === "share" ? "0" : undefined;
  return {
    status: statuses[action.action],
    put: copyWith(target, { lease }),
    headers: {
      "x-ms-lease-id": returnsId ? lease?.id : undefined,
      "x-ms-lease-time": leaseTimeSeconds === undefined ? timeOfRelease : String(leaseTimeSeconds),
    },
  };
}
