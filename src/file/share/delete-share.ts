import { reserveName } from "../../account/deleted-names.ts";
import { periodJob, put, reclaim, reclaimOwned, remove } from "../../operation/effects.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import { formatIso } from "../../base/dates.ts";
import { isLocked } from "../../protocol/lease.ts";
import { noBody } from "../../operation/operation.ts";
import { header, oneOf } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { ticksFromSeconds, type Ticks } from "../../base/ticks.ts";
import {
  deletedShares,
  shares,
  shareSnapshots,
  shareTombstones,
  type ShareRecord,
  type ShareSnapshotRecord,
} from "../records.ts";
import { operation } from "../resources.ts";
import { snapshotsOf } from "./snapshots.ts";

/** How long a repeated deletion of a share succeeds. This is about the time that the service takes
 *  to delete a share. */
const deletingSeconds = 30;

/** Deletes a share or one of its snapshots. The name of a share is free at once, unless the account
 *  reserves deleted names. Its records are removed later by a reclaim job, or kept for Restore
 *  Share. learn.microsoft.com/rest/api/storageservices/delete-share */
export const deleteShare = operation({
  name: "Delete Share",
  ids: ["Share_Delete"],
  route: { method: "DELETE", resource: "share", query: { restype: "share" } },
  since: "2015-02-21",
  params: {
    snapshots: header("x-ms-delete-snapshots", oneOf("include", "include-leased")),
  },
  body: noBody,
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  target: "optional",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  effect: "writes",
  acceptsSnapshot: true,
  isDeletion: true,
  success: { status: 202, headers: [] },
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

/** The fault of deleting a share that has snapshots; undefined if the request covers them. */
function keptBySnapshots(
  snapshots: readonly ShareSnapshotRecord[],
  asked: "include" | "include-leased" | undefined,
  now: Ticks,
) {
  if (snapshots.length === 0) return undefined;
  if (asked === undefined) return fail("ShareHasSnapshots");
  const leased = snapshots.some(({ lease }) => isLocked(lease, now));
  return leased && asked === "include" ? fail("DeleteShareWhenSnapshotLeased") : undefined;
}

/** The record of the share after one of its snapshots was deleted. */
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
