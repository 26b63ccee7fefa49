import { parseHttpDate } from "../../base/dates.ts";
import { truncateToSecond, type Ticks } from "../../base/ticks.ts";
import { header, type Param } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";

/** Conditions on the time at which the access tier of a blob was set. */
export interface TierConditions {
  readonly ifModifiedSince: Ticks | undefined;
  readonly ifUnmodifiedSince: Ticks | undefined;
}

const modifiedHeader = "x-ms-access-tier-if-modified-since";
const unmodifiedHeader = "x-ms-access-tier-if-unmodified-since";
const modified = header(modifiedHeader, parseHttpDate);
const unmodified = header(unmodifiedHeader, parseHttpDate);
const none = ok<TierConditions>({ ifModifiedSince: undefined, ifUnmodifiedSince: undefined });

/** The two conditional headers of Delete Blob. The parameter must be named `tierConditions`:
 *  `blob-policy.ts` reads it by this name. The x-ms-version is not compared: a condition that is
 *  ignored could delete a blob that the client wants to keep. */
export const tierConditions: Param<TierConditions> = {
  sources: [modifiedHeader, unmodifiedHeader],
  parse: (reader) => {
    const since = modified.parse(reader);
    if (!since.ok) return since;
    const until = unmodified.parse(reader);
    if (!until.ok) return until;
    if (since.value === undefined && until.value === undefined) return none;
    // Documented: the two exclude each other.
    return since.value !== undefined && until.value !== undefined
      ? fail("MultipleConditionHeadersNotSupported")
      : ok({ ifModifiedSince: since.value, ifUnmodifiedSince: until.value });
  },
};

/** Compares the conditions with the time of the last change, which is undefined for a tier that was
 *  never set. */
export function checkTierConditions(
  { ifModifiedSince, ifUnmodifiedSince }: TierConditions,
  { tierChanged }: BlobRecord,
): Result<void> {
  const changed = tierChanged === undefined ? undefined : truncateToSecond(tierChanged);
  if (ifModifiedSince !== undefined && (changed === undefined || changed <= ifModifiedSince)) {
    return fail("AccessTierChangeTimeConditionNotMet", { failedCondition: modifiedHeader });
  }
  if (ifUnmodifiedSince !== undefined && changed !== undefined && changed > ifUnmodifiedSince) {
    return fail("AccessTierChangeTimeConditionNotMet", { failedCondition: unmodifiedHeader });
  }
  return ok(undefined);
}
