import type { RecordView } from "../../operation/view.ts";
import { locks } from "../records.ts";
import type { ShareTree } from "../share-tree.ts";

/** At most this many open files of a share are examined; delete-pending files beyond them are
 *  listed. */
const openFilesMax = 100_000;
const none: ReadonlySet<bigint> = new Set();

/** Ids of the delete-pending files of a share, which listings omit. Scans the lock state of every
 *  open file of the share: a listing costs more the more files are open. A share snapshot has
 *  none. */
export async function deletePendingFiles(
  view: RecordView,
  { share, epoch }: ShareTree,
): Promise<ReadonlySet<bigint>> {
  if (epoch !== undefined) return none;
  const deletePending = new Set<bigint>();
  for await (const batch of view.scan(locks, { ...locks.range([share]), limit: openFilesMax })) {
    for (const { key, record } of batch) {
      if (record.deletePending) deletePending.add(locks.parts(key)[1] as bigint);
    }
  }
  return deletePending;
}
