import { formatHttpDate, formatIso } from "../../base/dates.ts";
import { bareETag } from "../../protocol/etag.ts";
import { leaseProperties } from "../../protocol/lease.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import type { Ticks } from "../../base/ticks.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import type { ShareRecord } from "../records.ts";
import { formatDeletedVersion } from "../../protocol/deleted-version.ts";
import {
  defaultTier,
  isPremium,
  nextDowngradeTime,
  provisionedRates,
  tierChangeTime,
  tierTransitionState,
} from "../share/share-settings.ts";
import { remainingDays, type ListedShare } from "./scan-shares.ts";

/** The XML element of one entry of List Shares: a share, a share snapshot or a soft-deleted share.
 *  learn.microsoft.com/rest/api/storageservices/list-shares */
export function renderShare(share: ListedShare, now: Ticks, withMetadata: boolean): string {
  const { name, record } = share;
  const version = "deletedAt" in record ? formatDeletedVersion(record.deletedAt) : undefined;
  // Only share snapshots have `at`, the time of the snapshot.
  const snapshot = "at" in record ? formatIso(record.at) : undefined;
  return element(
    "Share",
    textElement("Name", name) +
      textElement("Snapshot", snapshot) +
      textElement("Deleted", version === undefined ? undefined : "true") +
      textElement("Version", version) +
      element("Properties", renderProperties(record, now)) +
      (withMetadata ? renderMetadata(record.metadata) : ""),
  );
}

function renderProperties(record: ListedShare["record"], now: Ticks): string {
  const { status, state, duration } = leaseProperties(record.lease, now);
  return (
    textElement("Last-Modified", formatHttpDate(record.etag)) +
    textElement("Etag", `"${bareETag(record.etag)}"`) +
    textElement("LeaseStatus", status) +
    textElement("LeaseState", state) +
    textElement("LeaseDuration", duration) +
    textElement("Quota", record.quotaGib) +
    (isPremium(record) ? renderPremium(record) : renderStandard(record, now)) +
    textElement("DefaultEncryptionScope", "$account-encryption-key") +
    textElement("DenyEncryptionScopeOverride", "false") +
    ("deletedAt" in record
      ? textElement("DeletedTime", formatHttpDate(record.deletedAt)) +
        textElement("RemainingRetentionDays", Math.max(0, remainingDays(record, now)))
      : "")
  );
}

function renderStandard(record: ShareRecord, now: Ticks): string {
  return (
    textElement("AccessTier", record.settings.tier ?? defaultTier) +
    textElement("AccessTierChangeTime", tierChangeTime(record)) +
    textElement("AccessTierTransitionState", tierTransitionState(record, now))
  );
}

function renderPremium(record: ShareRecord): string {
  const { iops, mibps, ingressMbps, egressMbps } = provisionedRates(record);
  const { protocol = "SMB", rootSquash } = record.settings;
  return (
    textElement("EnabledProtocols", protocol) +
    textElement("RootSquash", protocol === "NFS" ? (rootSquash ?? "NoRootSquash") : undefined) +
    textElement("AccessTier", "Premium") +
    textElement("ProvisionedIops", iops) +
    textElement("ProvisionedBandwidthMiBps", mibps) +
    textElement("ProvisionedIngressMBps", ingressMbps) +
    textElement("ProvisionedEgressMBps", egressMbps) +
    textElement("NextAllowedQuotaDowngradeTime", formatHttpDate(nextDowngradeTime(record)))
  );
}

function renderMetadata(metadata: Metadata): string {
  let inner = "";
  for (const [name, value] of metadata) inner += textElement(name, value);
  return element("Metadata", inner);
}
