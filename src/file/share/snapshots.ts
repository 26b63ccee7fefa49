import type { RecordView } from "../../operation/view.ts";
import { shareSnapshots, type ShareSnapshotRecord } from "../records.ts";

/** Azure's limit of snapshots per share. */
export const shareSnapshotsMax = 200;

/** All snapshots of a share, oldest first. */
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
