import { formatHttpDate } from "../../base/dates.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { BlobRecord, Rehydration } from "../records.ts";
import { defaultTier } from "../shared/tier.ts";

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

export const tierHeaderNames = [
  "x-ms-access-tier",
  "x-ms-access-tier-inferred",
  "x-ms-access-tier-change-time",
  "x-ms-archive-status",
  "x-ms-rehydrate-priority",
] as const;

export type TierHeaders = Partial<Record<(typeof tierHeaderNames)[number], string | undefined>>;

/** The tier headers. A tier that was never set is returned as inferred, another one with the time
 *  of its change. */
export function tierHeaders({ type, tier, tierChanged, rehydration }: BlobRecord): TierHeaders {
  if (tier === undefined) {
    if (type !== "BlockBlob") return {};
    return { "x-ms-access-tier": defaultTier, "x-ms-access-tier-inferred": "true" };
  }
  return {
    "x-ms-access-tier": tier,
    "x-ms-access-tier-change-time":
      tierChanged === undefined ? undefined : formatHttpDate(tierChanged),
    "x-ms-archive-status": rehydration && archiveStatus(rehydration),
    "x-ms-rehydrate-priority": rehydration?.priority,
  };
}

export function archiveStatus({ to }: Rehydration): string {
  return `rehydrate-pending-to-${to.toLowerCase()}`;
}
