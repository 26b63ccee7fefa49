import { metadata, otherName } from "../../operation/common-params.ts";
import { put, periodJob, reclaim, reclaimOwned, remove } from "../../operation/effects.ts";
import {
  nodes,
  rootId,
  shareSnapshots,
  deletedShares,
  shares,
  shareTombstones,
  type ShareSnapshotRecord,
  type ShareRecord,
} from "../records.ts";
import { operation } from "../resources.ts";
import { directoryAttribute } from "../shared/smb-properties.ts";
import { rootKey } from "../share-tree.ts";
import { defaultQuotaGib, quota, settings } from "./share-settings.ts";
import { formatIso } from "../../base/dates.ts";
import { fail } from "../../protocol/result.ts";
import {
  ticksPerSecond,
  truncateToSecond,
  ticksFromSeconds,
  type Ticks,
} from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { reserveName } from "../../account/deleted-names.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import { isLocked } from "../../protocol/lease.ts";
import { header, oneOf, required } from "../../protocol/params.ts";
import { parseDeletedVersion } from "../../protocol/deleted-version.ts";
import { restoreShareNeed } from "../../protocol/roles/action-need.ts";
import { creation } from "../../operation/operation.ts";

/** The REST operations that create, snapshot, delete and restore shares. */

/** Creates a share with its root directory.
 *  learn.microsoft.com/rest/api/storageservices/create-share */
export const createShare = operation({
  name: "Create Share",
  ids: ["Share_Create"],
  route: { method: "PUT", resource: "share", query: { restype: "share" } },
  params: { metadata, quota, settings },
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  ...creation,
  status: 201,
  decide: ({ input, newETag, newId }) => {
    const id = newId();
    const posix =
      input.settings.protocol === "NFS" ? { mode: "0777", owner: "0", group: "0" } : undefined;
    const root = {
      id: rootId,
      parent: rootId,
      name: "",
      kind: "directory" as const,
      etag: newETag,
      since: 1,
      created: newETag,
      lastWrite: newETag,
      change: newETag,
      attributes: directoryAttribute,
      metadata: [],
      posix,
    };
    return {
      put: {
        id,
        etag: newETag,
        metadata: input.metadata,
        policies: [],
        quotaGib: input.quota ?? defaultQuotaGib(input),
        settings: { ...input.settings, tierChanged: newETag },
        epoch: 1,
        newestSnapshot: 0,
        snapshotCount: 0,
      },
      effects: [put(nodes, rootKey(id), root)],
    };
  },
});

/** Creates a share snapshot by raising the epoch of the share. Later writes first store a version
 *  of the record that they change, so the cost does not depend on the size of the share.
 *  learn.microsoft.com/rest/api/storageservices/snapshot-share */
export const snapshotShare = operation({
  name: "Snapshot Share",
  ids: ["Share_CreateSnapshot"],
  route: { method: "PUT", resource: "share", query: { restype: "share", comp: "snapshot" } },
  since: "2017-04-17",
  params: { metadata },
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "keep",
  status: 201,
  reads: (view, { target }) => snapshotsOf(view, target.id),
  decide: ({ target, input, newETag, now, readResult }) => {
    if (readResult.length >= shareSnapshotsMax) return fail("ShareSnapshotCountExceeded");
    const at = nextSnapshotTime(now, readResult.at(-1));
    const given = input.metadata.length > 0;
    const etag = given ? newETag : target.etag;
    const pairs = given ? input.metadata : target.metadata;
    const snapshot = { ...target, lease: undefined, metadata: pairs, etag, at };
    const { epoch, snapshotCount } = target;
    return {
      put: {
        ...target,
        epoch: epoch + 1,
        newestSnapshot: epoch,
        snapshotCount: snapshotCount + 1,
      },
      effects: [put(shareSnapshots, { share: target.id, at }, snapshot)],
      etag,
      headers: { "x-ms-snapshot": formatIso(at) },
    };
  },
});

/** The time that identifies the new snapshot: whole seconds, later than that of the last
 *  snapshot. */
function nextSnapshotTime(now: Ticks, last: ShareSnapshotRecord | undefined): Ticks {
  const second = truncateToSecond(now);
  return last === undefined || last.at < second ? second : last.at + ticksPerSecond;
}

/** Azure's limit of snapshots per share; a further one is a fault. */
const shareSnapshotsMax = 200;

/** Reads the records of all snapshots of a share, oldest first. */
export async function snapshotsOf(
  view: RecordView,
  share: bigint,
): Promise<readonly ShareSnapshotRecord[]> {
  const found: ShareSnapshotRecord[] = [];
  for await (const batch of view.scan(shareSnapshots, shareSnapshots.range([share]))) {
    for (const { record } of batch) found.push(record);
  }
  return found;
}

/** How long a repeated deletion of a share succeeds: about the time that Azure takes to delete a
 *  share. */
const deletingSeconds = 30;

/** Deletes a share or one of its snapshots. The name of a share is free at once, unless the account
 *  reserves deleted names. Its records are removed later by a reclaim job, or kept for Restore
 *  Share. learn.microsoft.com/rest/api/storageservices/delete-share */
export const deleteShare = operation({
  name: "Delete Share",
  ids: ["Share_Delete"],
  route: { method: "DELETE", resource: "share", query: { restype: "share" } },
  params: {
    snapshots: header("x-ms-delete-snapshots", oneOf("include", "include-leased")),
  },
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  target: "optional",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  acceptsSnapshot: true,
  isDeletion: true,
  status: 202,
  reads: async (view, { scope, address }) => {
    const key = { account: scope.account.id, name: address.share };
    if (scope.current !== undefined) return snapshotsOf(view, scope.current.id);
    const tombstone = await view.get(shareTombstones, key);
    return tombstone !== undefined && view.now < tombstone.until ? "just-deleted" : "unknown";
  },
  decide: ({ target, scope, address, input, readResult, features, now }) => {
    if (readResult === "just-deleted") return {};
    if (scope.current === undefined || typeof readResult === "string") return fail("ShareNotFound");
    if (target === undefined) return fail("ShareSnapshotNotFound");
    const { snapshot } = address;
    const { id } = scope.current;
    const key = { account: scope.account.id, name: address.share };
    if (snapshot !== undefined) {
      if (input.snapshots !== undefined) return invalidQuery("sharesnapshot", formatIso(snapshot));
      const { epoch } = target;
      const effects = [
        remove(shareSnapshots, { share: id, at: snapshot }),
        put(shares, key, withoutSnapshot(scope.current, readResult, epoch)),
        reclaim("file-snapshot", [id, BigInt(epoch)]),
      ];
      return { effects };
    }
    const fault = keptBySnapshots(readResult, input.snapshots, now);
    if (fault !== undefined) return fault;
    const retentionDays = features.shareSoftDeleteDays;
    const mark = { until: now + ticksFromSeconds(deletingSeconds) };
    const marks = [
      put(shareTombstones, key, mark),
      ...periodJob(shareTombstones, key, mark),
      ...reserveName(features, { ...key, service: "file" }, now),
    ];
    if (retentionDays === 0)
      return { remove: true, effects: [...marks, reclaimOwned("share", id)] };
    const record = { ...target, lease: undefined, deletedAt: now, retentionDays };
    const deletedKey = { ...key, version: now };
    const kept = put(deletedShares, deletedKey, record);
    const term = periodJob(deletedShares, deletedKey, record);
    return { remove: true, effects: [...marks, kept, ...term] };
  },
});

/** The fault of deleting a share with snapshots; undefined if the request includes them. */
function keptBySnapshots(
  snapshots: readonly ShareSnapshotRecord[],
  deleteSnapshots: "include" | "include-leased" | undefined,
  now: Ticks,
) {
  if (snapshots.length === 0) return undefined;
  if (deleteSnapshots === undefined) return fail("ShareHasSnapshots");
  const leased = snapshots.some(({ lease }) => isLocked(lease, now));
  return leased && deleteSnapshots === "include"
    ? fail("DeleteShareWhenSnapshotLeased")
    : undefined;
}

/** The record of a share after one of its snapshots was deleted: with one snapshot fewer, and
 *  another newest one. */
function withoutSnapshot(
  share: ShareRecord,
  snapshots: readonly ShareSnapshotRecord[],
  deletedEpoch: number,
): ShareRecord {
  const epochs = snapshots.map(({ epoch }) => epoch).filter((epoch) => epoch !== deletedEpoch);
  return {
    ...share,
    newestSnapshot: epochs.at(-1) ?? 0,
    snapshotCount: epochs.length,
  };
}

/** Restores a soft-deleted share, perhaps under another name.
 *  learn.microsoft.com/rest/api/storageservices/restore-share */
export const restoreShare = operation({
  name: "Restore Share",
  ids: ["Share_Restore"],
  route: { method: "PUT", resource: "share", query: { restype: "share", comp: "undelete" } },
  since: "2019-12-12",
  params: {
    deletedName: required(header("x-ms-deleted-share-name", otherName)),
    version: required(header("x-ms-deleted-share-version", parseDeletedVersion)),
  },
  namedResources: [
    {
      kind: "same-credentials",
      parameter: "x-ms-deleted-share-name",
      permission: {
        letters: "w",
        resourceType: "c",
        sas: "account-only",
        actions: restoreShareNeed,
      },
      resourceOf: (_, { deletedName: name }) => ({ name }),
    },
  ],
  permission: {
    letters: "w",
    resourceType: "c",
    sas: "account-only",
    actions: restoreShareNeed,
  },
  ...creation,
  status: 201,
  reads: (view, { scope, input }) => {
    const { deletedName: name, version } = input;
    return view.get(deletedShares, { account: scope.account.id, name, version });
  },
  decide: ({ scope, input, readResult }) => {
    if (readResult === undefined) return fail("ShareNotFound");
    const { deletedAt: _at, retentionDays: _days, ...share } = readResult;
    const { deletedName: name, version } = input;
    return {
      put: share,
      effects: [remove(deletedShares, { account: scope.account.id, name, version })],
    };
  },
});
