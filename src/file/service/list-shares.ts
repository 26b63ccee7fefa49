import { formatHttpDate, formatIso } from "../../base/dates.ts";
import {
  declareListing,
  deletionElements,
  leasedElements,
  remainingDays,
  scanNames,
  type ListBounds,
} from "../../account/declare-listing.ts";
import type { Table } from "../../encoding/table.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { element, metadataElement, textElement } from "../../encoding/xml-writer.ts";
import { formatDeletedVersion } from "../../protocol/deleted-version.ts";
import {
  deletedShares,
  shares,
  type DeletedShareRecord,
  type ShareRecord,
  type ShareSnapshotRecord,
} from "../records.ts";
import {
  defaultTier,
  isPremium,
  nextDowngradeTime,
  provisionedRates,
  tierChangeTime,
  tierTransitionState,
} from "../share/share-settings.ts";
import { snapshotsOf } from "../share/share-lifecycle.ts";

/** An entry of List Shares: a share, a share snapshot or a soft-deleted share. */
interface ListedShare {
  readonly name: string;
  readonly record: ShareRecord | ShareSnapshotRecord | DeletedShareRecord;
  /** `name/rank`, by which the entries are ordered. The rank orders entries of one name:
   *  soft-deleted shares, snapshots from the oldest, the share. */
  readonly sortKey: string;
}

/** Lists the shares of an account, with snapshots and soft-deleted shares on request.
 *  learn.microsoft.com/rest/api/storageservices/list-shares */
export const listShares = declareListing({
  name: "List Shares",
  id: "Service_ListSharesSegment",
  method: "GET",
  since: "2015-02-21",
  include: ["deleted", "snapshots"],
  element: "Shares",
  scan: scanShares,
  render: renderShare,
  positionOf: ({ sortKey }) => sortKey,
});

/** Separates name and rank in a sort key; share names cannot contain it. */
const separator = "/";

/** Reads the entries of one page of a share listing, ordered by `sortKey`. */
async function scanShares(
  view: RecordView,
  account: bigint,
  bounds: ListBounds,
  included: ReadonlySet<"deleted" | "snapshots">,
): Promise<readonly ListedShare[]> {
  const found: ListedShare[] = [];
  for (const [name, record] of await namesOf(view, shares, account, bounds)) {
    if (included.has("snapshots") && record.snapshotCount > 0) {
      for (const snapshot of await snapshotsOf(view, record.id)) {
        found.push(listed(name, snapshot, `1${snapshot.at}`));
      }
    }
    found.push(listed(name, record, "2"));
    if (found.length > bounds.limit * 2) break;
  }
  if (included.has("deleted")) {
    for (const [name, record] of await namesOf(view, deletedShares, account, bounds)) {
      if (remainingDays(record, view.now) < 0) continue;
      found.push(listed(name, record, `0${record.deletedAt}`));
    }
  }
  return found
    .filter(({ sortKey }) => sortKey >= bounds.from)
    .toSorted((left, right) => (left.sortKey < right.sortKey ? -1 : 1))
    .slice(0, bounds.limit);
}

function listed(name: string, record: ListedShare["record"], rank: string): ListedShare {
  return { name, record, sortKey: `${name}${separator}${rank}` };
}

/** Reads records for one page, from the name of its first entry on. Some of them may come before
 *  that entry, because a name can have several entries; the caller drops them. */
function namesOf<K, R>(view: RecordView, table: Table<K, R>, account: bigint, bounds: ListBounds) {
  const from = bounds.from.split(separator)[0] ?? "";
  const limit = bounds.limit + 1;
  return scanNames(view, table, account, { ...bounds, from, limit }, ([, name], record) => {
    return [name as string, record] as const;
  });
}

/** The XML element of one entry of List Shares: a share, a share snapshot or a soft-deleted share.
 *  learn.microsoft.com/rest/api/storageservices/list-shares */
function renderShare(share: ListedShare, now: Ticks, withMetadata: boolean): string {
  const { name, record } = share;
  const version = "deletedAt" in record ? formatDeletedVersion(record.deletedAt) : undefined;
  // Only the records of share snapshots have `at`, the time of the snapshot.
  const snapshot = "at" in record ? formatIso(record.at) : undefined;
  return element(
    "Share",
    textElement("Name", name) +
      textElement("Snapshot", snapshot) +
      textElement("Deleted", version === undefined ? undefined : "true") +
      textElement("Version", version) +
      element("Properties", renderProperties(record, now)) +
      (withMetadata ? metadataElement(record.metadata) : ""),
  );
}

function renderProperties(record: ListedShare["record"], now: Ticks): string {
  return (
    leasedElements(record, now) +
    textElement("Quota", record.quotaGib) +
    (isPremium(record) ? renderPremium(record) : renderStandard(record, now)) +
    textElement("DefaultEncryptionScope", "$account-encryption-key") +
    textElement("DenyEncryptionScopeOverride", "false") +
    ("deletedAt" in record ? deletionElements(record, now) : "")
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
  const { protocol = "SMB", rootSquash, snapshotDirectoryAccess: access } = record.settings;
  return (
    textElement("EnabledProtocols", protocol) +
    textElement("RootSquash", protocol === "NFS" ? (rootSquash ?? "NoRootSquash") : undefined) +
    textElement(
      "EnableSnapshotVirtualDirectoryAccess",
      access === undefined ? undefined : String(access),
    ) +
    textElement("AccessTier", "Premium") +
    textElement("ProvisionedIops", iops) +
    textElement("ProvisionedBandwidthMiBps", mibps) +
    textElement("ProvisionedIngressMBps", ingressMbps) +
    textElement("ProvisionedEgressMBps", egressMbps) +
    textElement("NextAllowedQuotaDowngradeTime", formatHttpDate(nextDowngradeTime(record)))
  );
}
