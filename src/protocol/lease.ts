import { fail, ok, type Failure, type Result } from "./result.ts";
import { ticksFromSeconds, wholeSeconds, type Ticks } from "../base/ticks.ts";
import { invalidHeader, missingHeader, type FaultCode } from "./faults.ts";
import { parseGuid } from "./guid.ts";
import type { LeaseAction } from "./lease-action.ts";
import type { ParamReader } from "./params.ts";

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

// Limits of the service for leases that are not infinite.
const leaseSecondsMin = 15;
const leaseSecondsMax = 60;
/** Limit of the service. */
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

/** Fault codes of a wrong lease id. Shares have the codes of containers with a text of their
 *  own. */
const mismatchCodes: Readonly<Record<LeaseKind, FaultCode>> = {
  blob: "LeaseIdMismatchWithBlobOperation",
  container: "LeaseIdMismatchWithContainerOperation",
  file: "LeaseIdMismatchWithFileOperation",
  share: "LeaseIdMismatchWithContainerOperation",
};

const notPresentCodes: Readonly<Record<LeaseKind, FaultCode>> = {
  blob: "LeaseNotPresentWithBlobOperation",
  container: "LeaseNotPresentWithContainerOperation",
  file: "LeaseNotPresentWithFileOperation",
  share: "LeaseNotPresentWithContainerOperation",
};

/** For a write without lease id to a leased resource. */
function leaseMissing(kind: LeaseKind): Failure {
  const message =
    `There is currently a lease on the ${nouns[kind]} and no lease ID was specified ` +
    "in the request.";
  return fail("LeaseIdMissing", { message });
}

/** For a request with the id of a lease that has ended. */
function leaseLost(kind: LeaseKind): Failure {
  const message = `A lease ID was specified, but the lease for the ${nouns[kind]} has expired.`;
  return fail("LeaseLost", { message });
}

/** For a request with another lease id than the current one. `during`: a data operation or a lease
 *  action. */
export function leaseMismatch(kind: LeaseKind, during: "operation" | "action"): Failure {
  const message = `The lease ID specified did not match the lease ID for the ${nouns[kind]}.`;
  const code = during === "action" ? "LeaseIdMismatchWithLeaseOperation" : mismatchCodes[kind];
  return fail(code, { message });
}

/** For a request with a lease id for a resource without lease. `during`: a data operation or a
 *  lease action. */
export function leaseNotPresent(kind: LeaseKind, during: "operation" | "action"): Failure {
  const message = `There is currently no lease on the ${nouns[kind]}.`;
  const code = during === "action" ? "LeaseNotPresentWithLeaseOperation" : notPresentCodes[kind];
  return fail(code, { message });
}

export const leaseHeaderNames = [
  "x-ms-lease-status",
  "x-ms-lease-state",
  "x-ms-lease-duration",
] as const;

export function leaseHeaders(lease: Lease | undefined, now: Ticks) {
  const { status, state, duration } = leaseProperties(lease, now);
  return {
    "x-ms-lease-status": status,
    "x-ms-lease-state": state,
    "x-ms-lease-duration": duration,
  };
}
