import { formatHttpDate } from "../../base/dates.ts";
import { propertiesRead, propertiesChange, type Route } from "../../operation/operation.ts";
import type { Ticks } from "../../base/ticks.ts";
import {
  shareUsage,
  shareSnapshots,
  type ShareRecord,
  type ShareSnapshotRecord,
} from "../records.ts";
import { operation } from "../resources.ts";
import { leaseHeaders, leaseReply } from "../../protocol/lease.ts";
import {
  defaultTier,
  isPremium,
  nextDowngradeTime,
  provisionedRates,
  tierChangeTime,
  tierTransitionState,
  quota,
  settings,
} from "./share-settings.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { metadata, breakHeaders, leaseAction, leaseChange } from "../../operation/common-params.ts";
import {
  accessPoliciesBytesMax,
  parseAccessPolicies,
  renderAccessPolicies,
} from "../../account/access-policies.ts";
import { put } from "../../operation/effects.ts";

/** REST operations on properties, statistics, metadata, policies and leases of shares. */

/** Returns properties and metadata of a share or of one of its snapshots.
 *  learn.microsoft.com/rest/api/storageservices/get-share-properties */
export const getShareProperties = operation({
  ...propertiesRead,
  name: "Get Share Properties",
  ids: ["Share_GetProperties"],
  route: { method: ["GET", "HEAD"], resource: "share", query: { restype: "share" } },
  permission: { letters: "r", resourceType: "c", sas: "account-only" },
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

/** The first x-ms-version that is known to report the default of this setting (tests of the
 *  official Go library). */
const directoryLeaseSince = "2026-06-06";

function directoryLease({ settings: held }: ShareRecord, version: string): boolean | undefined {
  const isDefault = held.protocol !== "NFS" && version >= directoryLeaseSince;
  return held.directoryLease ?? (isDefault || undefined);
}

/** Headers of settings without a default: they are sent only if a client has set them. */
function chosenHeaders({ settings: held }: ShareRecord) {
  return {
    "x-ms-share-paid-bursting-enabled": text(held.paidBursting),
    "x-ms-share-paid-bursting-max-bandwidth-mibps": text(held.paidBurstingMibps),
    "x-ms-share-paid-bursting-max-iops": text(held.paidBurstingIops),
  };
}

function text(value: number | boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** Sets quota and settings of a share; those that the request does not have remain unchanged. A
 *  quota below the bytes in use is accepted and only prevents further writes.
 *  learn.microsoft.com/rest/api/storageservices/set-share-properties */
export const setShareProperties = operation({
  ...propertiesChange,
  name: "Set Share Properties",
  ids: ["Share_SetProperties"],
  route: {
    method: "PUT",
    resource: "share",
    query: { restype: "share", comp: "properties" },
  },
  params: { quota, settings },
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  decide: ({ target, input, newETag }) => {
    const present = target.settings.tier ?? defaultTier;
    const moved = input.settings.tier !== undefined && input.settings.tier !== present;
    const change = moved ? { tierChanged: newETag, tierBefore: present } : {};
    return {
      put: {
        ...target,
        quotaGib: input.quota ?? target.quotaGib,
        settings: { ...target.settings, ...input.settings, ...change },
      },
    };
  },
});

/** Returns how many bytes the files of a share have together, as its quota counts them. */
export const getShareStats = operation({
  ...propertiesRead,
  name: "Get Share Stats",
  ids: ["Share_GetStatistics"],
  route: { method: "GET", resource: "share", query: { restype: "share", comp: "stats" } },
  permission: { letters: "r", resourceType: "c", sas: "account-only" },
  reads: (view, { target }) => view.count(shareUsage.key(target.id)),
  decide: ({ readResult }) => ({
    body: xmlBody(element("ShareStats", textElement("ShareUsageBytes", readResult))),
  }),
});

const metadataQuery = { restype: "share", comp: "metadata" };

/** Returns the metadata of a share.
 *  learn.microsoft.com/rest/api/storageservices/get-share-metadata */
export const getShareMetadata = operation({
  ...propertiesRead,
  name: "Get Share Metadata",
  ids: ["Share_GetMetadata_GET", "Share_GetMetadata_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "share", query: metadataQuery },
  permission: { letters: "r", resourceType: "c", sas: "account-only" },
  decide: ({ target }) => ({ metadata: target.metadata }),
});

/** Replaces all metadata of the share.
 *  learn.microsoft.com/rest/api/storageservices/set-share-metadata */
export const setShareMetadata = operation({
  ...propertiesChange,
  name: "Set Share Metadata",
  ids: ["Share_SetMetadata"],
  route: { method: "PUT", resource: "share", query: metadataQuery },
  params: { metadata },
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  decide: ({ target, input }) => ({ put: { ...target, metadata: input.metadata } }),
});

const aclQuery = { restype: "share", comp: "acl" };

/** Returns the stored access policies of a share.
 *  learn.microsoft.com/rest/api/storageservices/get-share-acl */
export const getShareAcl = operation({
  ...propertiesRead,
  name: "Get Share ACL",
  ids: ["Share_GetAccessPolicy"],
  route: { method: ["GET", "HEAD"], resource: "share", query: aclQuery },
  permission: { resourceType: "c", sas: "none" },
  decide: ({ target }) => ({ body: xmlBody(renderAccessPolicies(target.policies)) }),
});

/** Replaces all stored access policies of a share.
 *  learn.microsoft.com/rest/api/storageservices/set-share-acl */
export const setShareAcl = operation({
  ...propertiesChange,
  name: "Set Share ACL",
  ids: ["Share_SetAccessPolicy"],
  route: { method: "PUT", resource: "share", query: aclQuery },
  body: { kind: "xml", bytesMax: accessPoliciesBytesMax, parse: parseAccessPolicies },
  permission: { resourceType: "c", sas: "none" },
  decide: ({ target, input }) => ({ put: { ...target, policies: input.body } }),
});

/** Leases a share or one of its snapshots.
 *  learn.microsoft.com/rest/api/storageservices/lease-share */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  const query = { restype: "share", comp: "lease" };
  return operation({
    ...leaseChange,
    name: "Lease Share",
    ids,
    route: { method: "PUT", resource: "share", query, headers },
    since: "2020-02-10",
    params: { action: leaseAction("share") },
    permission: { letters, resourceType: "c", sas: "account-only" },
    conditions: "none",
    acceptsSnapshot: true,
    decide: ({ target, scope, address, input, now, newGuid }) => {
      const reply = leaseReply({ target, action: input.action, kind: "share", now, newGuid });
      const { snapshot } = address;
      if ("fault" in reply || snapshot === undefined || scope.current === undefined) return reply;
      const { status, headers: replyHeaders, put: next } = reply;
      const key = { share: scope.current.id, at: snapshot };
      const effects = [put(shareSnapshots, key, next as ShareSnapshotRecord)];
      return { status, headers: replyHeaders, effects };
    },
  });
}

export const leaseShare = declareLease(
  ["Share_AcquireLease", "Share_RenewLease", "Share_ChangeLease", "Share_ReleaseLease"],
  "w",
);

export const breakShareLease = declareLease(["Share_BreakLease"], "wd", breakHeaders);
