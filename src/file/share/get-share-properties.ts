import { formatHttpDate } from "../../base/dates.ts";
import { propertiesRead } from "../../operation/operation.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { ShareRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { leaseHeaderNames, leaseHeaders } from "../../protocol/lease.ts";
import {
  defaultTier,
  isPremium,
  nextDowngradeTime,
  provisionedRates,
  tierChangeTime,
  tierTransitionState,
} from "./share-settings.ts";

/** learn.microsoft.com/rest/api/storageservices/get-share-properties */
export const getShareProperties = operation({
  ...propertiesRead,
  name: "Get Share Properties",
  ids: ["Share_GetProperties"],
  route: { method: ["GET", "HEAD"], resource: "share", query: { restype: "share" } },
  since: "2015-02-21",
  params: {},
  permission: { letters: "r", resourceType: "c", sas: "account-only" },
  success: {
    status: 200,
    headers: [
      ...leaseHeaderNames,
      "x-ms-share-quota",
      "x-ms-has-immutability-policy",
      "x-ms-has-legal-hold",
      "x-ms-access-tier",
      "x-ms-access-tier-change-time",
      "x-ms-access-tier-transition-state",
      "x-ms-enabled-protocols",
      "x-ms-root-squash",
      "x-ms-enable-snapshot-virtual-directory-access",
      "x-ms-enable-smb-directory-lease",
      "x-ms-share-paid-bursting-enabled",
      "x-ms-share-paid-bursting-max-bandwidth-mibps",
      "x-ms-share-paid-bursting-max-iops",
      "x-ms-share-next-allowed-quota-downgrade-time",
      "x-ms-share-provisioned-iops",
      "x-ms-share-provisioned-bandwidth-mibps",
      "x-ms-share-provisioned-ingress-mbps",
      "x-ms-share-provisioned-egress-mbps",
    ],
  },
  decide: ({ target, now, version }) => ({
    metadata: target.metadata,
    headers: {
      ...leaseHeaders(target.lease, now),
      "x-ms-share-quota": String(target.quotaGib),
      "x-ms-has-immutability-policy": "false",
      "x-ms-has-legal-hold": "false",
      ...(isPremium(target) ? premiumHeaders(target) : standardHeaders(target, now)),
      ...chosenHeaders(target),
      "x-ms-enable-smb-directory-lease": text(directoryLease(target, version)),
    },
  }),
});

function standardHeaders(share: ShareRecord, now: Ticks) {
  return {
    "x-ms-access-tier": share.settings.tier ?? defaultTier,
    "x-ms-access-tier-change-time": tierChangeTime(share),
    "x-ms-access-tier-transition-state": tierTransitionState(share, now),
    "x-ms-share-provisioned-iops": text(share.settings.provisionedIops),
    "x-ms-share-provisioned-bandwidth-mibps": text(share.settings.provisionedMibps),
  };
}

function premiumHeaders(share: ShareRecord) {
  const { iops, mibps, ingressMbps, egressMbps } = provisionedRates(share);
  const { protocol = "SMB", rootSquash, snapshotDirectoryAccess } = share.settings;
  const isNfs = protocol === "NFS";
  return {
    "x-ms-access-tier": "Premium",
    "x-ms-enabled-protocols": protocol,
    "x-ms-root-squash": isNfs ? (rootSquash ?? "NoRootSquash") : undefined,
    "x-ms-enable-snapshot-virtual-directory-access": text(snapshotDirectoryAccess),
    "x-ms-share-next-allowed-quota-downgrade-time": formatHttpDate(nextDowngradeTime(share)),
    "x-ms-share-provisioned-iops": String(iops),
    "x-ms-share-provisioned-bandwidth-mibps": String(mibps),
    "x-ms-share-provisioned-ingress-mbps": String(ingressMbps),
    "x-ms-share-provisioned-egress-mbps": String(egressMbps),
  };
}

/** The first version that is known to report the default (tests of the official Go library). */
const directoryLeaseSince = "2026-06-06";

function directoryLease({ settings }: ShareRecord, version: string): boolean | undefined {
  const isDefault = settings.protocol !== "NFS" && version >= directoryLeaseSince;
  return settings.directoryLease ?? (isDefault || undefined);
}

/** Headers that are sent only if the setting was set explicitly. */
function chosenHeaders({ settings }: ShareRecord) {
  return {
    "x-ms-share-paid-bursting-enabled": text(settings.paidBursting),
    "x-ms-share-paid-bursting-max-bandwidth-mibps": text(settings.paidBurstingMibps),
    "x-ms-share-paid-bursting-max-iops": text(settings.paidBurstingIops),
  };
}

function text(value: number | boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}
