import { invalidHeader, missingHeader } from "./faults.ts";
import { parseGuid } from "./guid.ts";
import { infiniteLeaseSeconds } from "./lease.ts";
import type { LeaseKind } from "./lease.ts";
import type { LeaseAction } from "./lease-action.ts";
import type { ParamReader } from "./params.ts";
import { ok, type Result } from "./result.ts";

// Limits of the service for leases that are not infinite.
export const leaseSecondsMin = 15;
export const leaseSecondsMax = 60;
/** Limit of the service. */
export const breakPeriodSecondsMax = 60;

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
