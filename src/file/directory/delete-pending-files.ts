import type { RecordView } from "../../operation/view.ts";
import { locks } from "../records.ts";
import type { ShareTree } from "../share-tree.ts";

/** Bound of the scan over the open files of a share. */
const openFilesMax = 100_000;
const none: ReadonlySet<bigint> = new Set();

/** Ids of delete-pending files, which listings omit. Scans the lock state of every open file of
 *  the share; there are few. */
export async function deletePendingFiles(
  view: RecordView,
  { share, epoch }: ShareTree,
): Promise<ReadonlySet<bigint>> {
  if (epoch !== undefined) return none;
  const leaving = new Set<bigint>();
  for await (const batch of view.scan(locks, { ...locks.range([share]), limit: openFilesMax })) {
    for (const { key, record } of batch) {
      if (record.deletePending) leaving.add(locks.parts(key)[1] as bigint);
    }
  }
  return leaving;
}
