import { formatHttpDate } from "../../base/dates.ts";
import { boolean, header, integer, oneOf, type Param } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";
import { ticksFromSeconds, ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { ShareRecord, ShareSettings } from "../records.ts";

const quotaGibDefault = 5120;
const premiumQuotaGibDefault = 100;
const quotaGibMax = 102_400;
const rateMax = 1_000_000;

export const quota = header("x-ms-share-quota", integer(1, quotaGibMax));

const tier = header("x-ms-access-tier", oneOf("TransactionOptimized", "Hot", "Cool", "Premium"));

const parts = {
  tier,
  protocol: header("x-ms-enabled-protocols", oneOf("SMB", "NFS")),
  rootSquash: header("x-ms-root-squash", oneOf("NoRootSquash", "RootSquash", "AllSquash")),
  snapshotDirectoryAccess: header("x-ms-enable-snapshot-virtual-directory-access", boolean),
  directoryLease: header("x-ms-enable-smb-directory-lease", boolean),
  paidBursting: header("x-ms-share-paid-bursting-enabled", boolean),
  paidBurstingMibps: header("x-ms-share-paid-bursting-max-bandwidth-mibps", integer(0, rateMax)),
  paidBurstingIops: header("x-ms-share-paid-bursting-max-iops", integer(0, rateMax)),
  provisionedIops: header("x-ms-share-provisioned-iops", integer(0, rateMax)),
  provisionedMibps: header("x-ms-share-provisioned-bandwidth-mibps", integer(0, rateMax)),
} as const;

/** The settings that the request names, to be merged into the present ones. */
export const settings: Param<ShareSettings> = {
  sources: Object.values(parts).flatMap(({ sources }) => sources),
  parse: (reader) => {
    const found: Record<string, unknown> = {};
    for (const [name, part] of Object.entries(parts)) {
      const parsed = part.parse(reader);
      if (!parsed.ok) return parsed;
      if (parsed.value !== undefined) found[name] = parsed.value;
    }
    return ok(found as ShareSettings);
  },
};

export function isPremium({ settings: { tier: held, protocol } }: Settled): boolean {
  return held === "Premium" || protocol === "NFS";
}

type Settled = Pick<ShareRecord, "settings">;

export function defaultQuotaGib(share: Settled): number {
  return isPremium(share) ? premiumQuotaGibDefault : quotaGibDefault;
}

/** Defaults for a premium share of this size, as documented for provisioned capacity. */
export function provisioned({ quotaGib, settings: held }: ShareRecord) {
  return {
    iops: held.provisionedIops ?? 3000 + quotaGib,
    mibps: held.provisionedMibps ?? 100 + Math.ceil(quotaGib * 0.1),
    ingressMbps: 40 + Math.ceil(quotaGib * 0.04),
    egressMbps: 60 + Math.ceil(quotaGib * 0.06),
  };
}

export const defaultTier = "TransactionOptimized";

/** A premium share can be reduced one day after it was created or enlarged. */
export function nextDowngrade({ etag }: ShareRecord): Ticks {
  return etag + ticksPerDay;
}

const tierMoveSeconds = 60;

/** `pending-from-transactionOptimized` while a share moves from one tier to another. */
export function tierTransition({ settings: held }: ShareRecord, now: Ticks): string | undefined {
  const { tierBefore, tierChanged: at } = held;
  if (tierBefore === undefined || at === undefined) return undefined;
  if (now >= at + ticksFromSeconds(tierMoveSeconds)) return undefined;
  return `pending-from-${tierBefore.slice(0, 1).toLowerCase()}${tierBefore.slice(1)}`;
}

export function tierChanged({ settings: held, etag }: ShareRecord): string {
  return formatHttpDate(held.tierChanged ?? etag);
}
