import { formatHttpDate } from "../../base/dates.ts";
import { boolean, header, integer, oneOf, type Param } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";
import { ticksFromSeconds, ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { ShareRecord, ShareSettings } from "../records.ts";

/** The settings of a share: quota, access tier, protocol and provisioned rates, as Create Share and
 *  Set Share Properties take them and responses report them. */

/** Azure's default and largest quotas of a share, in GiB. */
const quotaGibDefault = 5120;
const premiumQuotaGibDefault = 100;
const quotaGibMax = 102_400;
/** Largest accepted provisioned rate, in operations or MiB per second. The rates are only stored
 *  and reported, not enforced. */
const rateMax = 1_000_000;

export const quota = header("x-ms-share-quota", integer(1, quotaGibMax));

const tier = header("x-ms-access-tier", oneOf("TransactionOptimized", "Hot", "Cool", "Premium"));

const settingParams = {
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

/** The parameter that reads the settings in a request, which are merged into those of the share. */
export const settings: Param<ShareSettings> = {
  sources: Object.values(settingParams).flatMap(({ sources }) => sources),
  parse: (reader) => {
    const found: Record<string, unknown> = {};
    for (const [name, part] of Object.entries(settingParams)) {
      const parsed = part.parse(reader);
      if (!parsed.ok) return parsed;
      if (parsed.value !== undefined) found[name] = parsed.value;
    }
    return ok(found as ShareSettings);
  },
};

/** Whether a share is premium, with provisioned rates and another quota; NFS shares are. */
export function isPremium({ settings: { tier: held, protocol } }: WithSettings): boolean {
  return held === "Premium" || protocol === "NFS";
}

type WithSettings = Pick<ShareRecord, "settings">;

export function defaultQuotaGib(share: WithSettings): number {
  return isPremium(share) ? premiumQuotaGibDefault : quotaGibDefault;
}

/** IOPS and rates of a premium share: those that were set, else the documented defaults for its
 *  quota. */
export function provisionedRates({ quotaGib, settings: held }: ShareRecord) {
  return {
    iops: held.provisionedIops ?? 3000 + quotaGib,
    mibps: held.provisionedMibps ?? 100 + Math.ceil(quotaGib * 0.1),
    ingressMbps: 40 + Math.ceil(quotaGib * 0.04),
    egressMbps: 60 + Math.ceil(quotaGib * 0.06),
  };
}

export const defaultTier = "TransactionOptimized";

/** When the quota of a premium share may be reduced: a day after its last change. Only reported. */
export function nextDowngradeTime({ etag }: ShareRecord): Ticks {
  return etag + ticksPerDay;
}

/** How long after a change of its access tier the responses report the change as pending, as Azure
 *  does, where it takes time. */
const tierMoveSeconds = 60;

/** The value of the response header for a change of the access tier: `pending-from-<previous tier>`
 *  for a while after it; undefined otherwise. */
export function tierTransitionState(
  { settings: held }: ShareRecord,
  now: Ticks,
): string | undefined {
  const { tierBefore, tierChanged: at } = held;
  if (tierBefore === undefined || at === undefined) return undefined;
  if (now >= at + ticksFromSeconds(tierMoveSeconds)) return undefined;
  return `pending-from-${tierBefore.slice(0, 1).toLowerCase()}${tierBefore.slice(1)}`;
}

/** When the access tier was last changed, as an HTTP date for responses. */
export function tierChangeTime({ settings: held, etag }: ShareRecord): string {
  return formatHttpDate(held.tierChanged ?? etag);
}
