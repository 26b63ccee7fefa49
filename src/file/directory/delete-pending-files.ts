import type { RecordView } from "../../operation/view.ts";
import { locks } from "../records.ts";
import type { ShareTree } from "../share-tree.ts";

/** Open files of one share that are looked through. */
const openFilesMax = 100_000;
const none: ReadonlySet<bigint> = new Set();

/** Files that wait for their last handle to close: they are there, but no longer shown. Costs a
 *  look at every file that is open, and there are few of those. */
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
