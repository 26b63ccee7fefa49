import type { RecordView } from "../../operation/view.ts";
import { versions, type NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { findNode, resolvePath } from "../share-tree.ts";

interface SnapshotQuery {
  readonly epoch: number;
  /** Whether to find the file by its id if it was renamed since the snapshot. */
  readonly followsRenames: boolean;
}

/** The record of a file in a share snapshot: what has the same path there or, with
 *  `followsRenames`, what has the same id. */
export async function nodeAt(
  view: RecordView,
  { share, components, key }: NodeScope,
  target: NodeRecord,
  { epoch, followsRenames }: SnapshotQuery,
): Promise<NodeRecord | undefined> {
  const resolved = await resolvePath(view, { share: share.id, epoch }, components);
  if (resolved.target?.id === target.id || !followsRenames) return resolved.target;
  const inPlace = await findNode(view, key, epoch);
  return inPlace?.id === target.id ? inPlace : findById(view, share.id, target.id, epoch);
}

/** At most this many stored versions of a share are examined. Only requests with
 *  `x-ms-file-support-rename` for a renamed file need this scan. */
const versionsScannedMax = 100_000;

async function findById(
  view: RecordView,
  share: bigint,
  id: bigint,
  epoch: number,
): Promise<NodeRecord | undefined> {
  const bounds = { ...versions.range([share]), limit: versionsScannedMax };
  for await (const batch of view.scan(versions, bounds)) {
    for (const { record } of batch) {
      if (record.id === id && record.since <= epoch && record.until >= epoch) return record;
    }
  }
  return undefined;
}
