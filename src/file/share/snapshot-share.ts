import { metadata } from "../../operation/common-params.ts";
import { formatIso } from "../../base/dates.ts";
import { put } from "../../operation/effects.ts";
import { noBody } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { ticksPerSecond, truncateToSecond, type Ticks } from "../../base/ticks.ts";
import { shareSnapshots, type ShareSnapshotRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { shareSnapshotsMax, snapshotsOf } from "./snapshots.ts";

/** Creates a share snapshot by raising the epoch of the share. Later writes first store a version
 *  of the record that they change, so the cost does not depend on the size of the share.
 *  learn.microsoft.com/rest/api/storageservices/snapshot-share */
export const snapshotShare = operation({
  name: "Snapshot Share",
  ids: ["Share_CreateSnapshot"],
  route: { method: "PUT", resource: "share", query: { restype: "share", comp: "snapshot" } },
  since: "2017-04-17",
  params: { metadata },
  body: noBody,
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "keep",
  effect: "writes",
  success: { status: 201, headers: ["x-ms-snapshot"] },
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
