import { type FaultCode, missingHeader } from "../../protocol/faults.ts";
import type { RecordView } from "../../operation/view.ts";
import { holds } from "../indexes.ts";
import { formatHttpDate, parseHttpDate } from "../../base/dates.ts";
import { boolean, header, oneOf, required, type Param } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { BlobRecord, ImmutabilityPolicy } from "../records.ts";

/** Immutability policies and legal holds: their headers, and the check that every change of a blob
 *  makes. */

const untilHeader = "x-ms-immutability-policy-until-date";
const modeHeader = "x-ms-immutability-policy-mode";

const until = header(untilHeader, parseHttpDate);
const mode = header(modeHeader, oneOf("unlocked", "locked"));

/** The immutability policy in the request headers; undefined without one. A mode without a date is
 *  a fault. */
const policy: Param<ImmutabilityPolicy | undefined> = {
  sources: [untilHeader, modeHeader],
  parse: (reader) => {
    const end = until.parse(reader);
    if (!end.ok) return end;
    const kind = mode.parse(reader);
    if (!kind.ok) return kind;
    if (end.value !== undefined) {
      return ok({ until: end.value, mode: kind.value ?? "unlocked" });
    }
    return kind.value === undefined ? ok(undefined) : missingHeader(untilHeader);
  },
};

export const immutabilityPolicy = required(policy);
const hold = header("x-ms-legal-hold", boolean);
export const legalHold = required(hold);

export interface Protection {
  readonly immutability: ImmutabilityPolicy | undefined;
  readonly legalHold: boolean | undefined;
}

/** Parser of the immutability policy and legal hold that a request gives to a new blob. */
export const protection: Param<Protection> = {
  sources: [...policy.sources, "x-ms-legal-hold"],
  parse: (reader) => {
    const immutability = policy.parse(reader);
    if (!immutability.ok) return immutability;
    const held = hold.parse(reader);
    if (!held.ok) return held;
    const isProtected = immutability.value !== undefined || held.value !== undefined;
    if (!isProtected) return noProtection;
    return ok({ immutability: immutability.value, legalHold: held.value });
  },
};

const noProtection = ok<Protection>({ immutability: undefined, legalHold: undefined });

export function protectionHeaders({ immutability, legalHold: held }: BlobRecord) {
  return {
    ...policyHeaders(immutability),
    "x-ms-legal-hold": held === undefined ? undefined : String(held),
  };
}

export function policyHeaders(immutability: ImmutabilityPolicy | undefined) {
  return {
    [untilHeader]: immutability && formatHttpDate(immutability.until),
    [modeHeader]: immutability?.mode,
  };
}

/** Fails if a legal hold or an immutability policy that has not ended protects the blob. */
export function checkProtection(record: BlobRecord, now: Ticks): Result<void> {
  if (record.legalHold === true) return fail("BlobImmutableDueToLegalHold");
  const isProtected = record.immutability !== undefined && record.immutability.until > now;
  return isProtected ? fail("BlobImmutableDueToPolicy") : ok(undefined);
}

/** The fault code of deleting a container with a protected blob; undefined if it has none. */
export async function protectionFault(
  view: RecordView,
  container: bigint,
): Promise<FaultCode | undefined> {
  for await (const batch of view.scan(holds, holds.range([container]))) {
    for (const { record } of batch) {
      if (record.legalHold) return "BlobImmutableDueToLegalHold";
      if (record.until !== undefined && record.until > view.now) return "BlobImmutableDueToPolicy";
    }
  }
  return undefined;
}
