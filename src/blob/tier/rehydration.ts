import { parseHttpDate, formatHttpDate } from "../../base/dates.ts";
import { truncateToSecond, ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { header, oneOf, type Param } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord, Rehydration } from "../records.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import type { Version } from "../../protocol/versions.ts";

/** Access tiers of blobs: parameters, headers, and the end of a rehydration, which is computed on
 *  reads. */

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
 *  `blob/blob-policy.ts` reads it by this name. The x-ms-version is not compared: a condition that
 *  is ignored could delete a blob that the client wants to keep. */
export const tierConditions: Param<TierConditions> = {
  sources: [modifiedHeader, unmodifiedHeader],
  parse: (reader) => {
    const since = modified.parse(reader);
    if (!since.ok) return since;
    const until = unmodified.parse(reader);
    if (!until.ok) return until;
    if (since.value === undefined && until.value === undefined) return none;
    // Documented: the two conditions exclude each other.
    return since.value !== undefined && until.value !== undefined
      ? fail("MultipleConditionHeadersNotSupported")
      : ok({ ifModifiedSince: since.value, ifUnmodifiedSince: until.value });
  },
};

/** Compares the conditions with the time of the last change of the tier. A tier that was never set
 *  counts as unmodified since any time. */
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

const tierHeader = "x-ms-access-tier";

/** The tier in which the service chooses between Hot, Cool and Cold by the last access. */
const smart = "Smart";
/** The first x-ms-version with the tier Smart. */
const smartSince: Version = "2026-06-06";

/** The tiers that a client can set on block blobs. */
export const blockTiers = ["Hot", "Cool", "Cold", "Archive", smart] as const;
export const pageTiers = [
  "P4",
  "P6",
  "P10",
  "P15",
  "P20",
  "P30",
  "P40",
  "P50",
  "P60",
  "P70",
  "P80",
] as const;

type BlockTier = (typeof blockTiers)[number];
export type Tier = BlockTier | (typeof pageTiers)[number];

function tierParam<T extends string>(tiers: readonly T[]): Param<T | undefined> {
  const param = header(tierHeader, oneOf(...tiers));
  return {
    sources: param.sources,
    parse: (reader) => {
      const parsed = param.parse(reader);
      const isTooNew = parsed.ok && parsed.value === smart && reader.version < smartSince;
      return isTooNew ? invalidHeader(tierHeader, smart) : parsed;
    },
  };
}

/** `x-ms-access-tier` of an operation that creates a block blob. */
export const blockBlobTier = tierParam<BlockTier>(blockTiers);
/** `x-ms-access-tier` of Copy Blob and Set Blob Tier, which know the type of the blob only
 *  later. */
export const anyTier = tierParam<Tier>([...blockTiers, ...pageTiers]);

/** The tier of block blobs whose tier was never set: Azure's default for accounts. */
export const defaultTier = "Hot";

export const archive = "Archive";

/** How long a rehydration takes: the maximum of the service, 15 h, or 1 h with high priority. */
const durations = { Standard: 15n * 3600n * ticksPerSecond, High: 3600n * ticksPerSecond };

export function beginRehydration(
  to: string,
  priority: Rehydration["priority"],
  now: Ticks,
): Rehydration {
  return { to, priority, due: now + durations[priority] };
}

/** The record with its new tier if its rehydration has ended. Applied whenever a blob is loaded; no
 *  job writes the new tier. */
export function afterRehydration<R extends BlobRecord | undefined>(record: R, now: Ticks): R {
  const rehydration = record?.rehydration;
  if (rehydration === undefined || rehydration.due > now) return record;
  const { to: tier, due: tierChanged } = rehydration;
  return { ...record, tier, tierChanged, rehydration: undefined };
}

const tierHeaderNames = [
  "x-ms-access-tier",
  "x-ms-access-tier-inferred",
  "x-ms-access-tier-change-time",
  "x-ms-smart-access-tier",
  "x-ms-archive-status",
  "x-ms-rehydrate-priority",
] as const;

type TierHeaders = Partial<Record<(typeof tierHeaderNames)[number], string | undefined>>;

/** The headers that describe the access tier, for reads and listings. A tier that was never set is
 *  returned as inferred, another one with the time of its change. */
export function tierHeaders({ type, tier, tierChanged, rehydration }: BlobRecord): TierHeaders {
  if (tier === undefined) {
    if (type !== "BlockBlob") return {};
    return { "x-ms-access-tier": defaultTier, "x-ms-access-tier-inferred": "true" };
  }
  return {
    "x-ms-access-tier": tier,
    "x-ms-access-tier-change-time":
      tierChanged === undefined ? undefined : formatHttpDate(tierChanged),
    // The service moves a Smart blob by its last access. This server reports Hot: it never moves
    // the blob.
    "x-ms-smart-access-tier": tier === smart ? defaultTier : undefined,
    "x-ms-archive-status": rehydration && `rehydrate-pending-to-${rehydration.to.toLowerCase()}`,
    "x-ms-rehydrate-priority": rehydration?.priority,
  };
}
