import type { RecordView } from "../../operation/view.ts";
import { locks } from "../records.ts";
import type { ShareTree } from "../share-tree.ts";

/** If more files of a share are open, the lock state of each listed file is read instead of those
 *  of all open files. */
const openFilesScannedMax = 4096;

/** Whether the file with this id is delete-pending. */
export type IsDeletePending = (id: bigint) => Promise<boolean> | boolean;

/** Finds the delete-pending files of a share, which listings omit. Undefined if there are none.
 *  The cost is limited by the number of open files and by `openFilesScannedMax`; a share snapshot
 *  has none. */
export async function findDeletePending(
  view: RecordView,
  { share, epoch }: ShareTree,
): Promise<IsDeletePending | undefined> {
  if (epoch !== undefined) return undefined;
  const deletePending = new Set<bigint>();
  let scanned = 0;
  const bounds = { ...locks.range([share]), limit: openFilesScannedMax + 1 };
  for await (const batch of view.scan(locks, bounds)) {
    scanned += batch.length;
    for (const { key, record } of batch) {
      if (record.deletePending) deletePending.add(locks.parts(key)[1] as bigint);
    }
  }
  if (scanned > openFilesScannedMax) {
    return async (id) => (await view.get(locks, { share, id }))?.deletePending === true;
  }
  return deletePending.size === 0 ? undefined : (id) => deletePending.has(id);
}
