import type { RecordView } from "../../operation/view.ts";
import { versions, type NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { findNode, resolvePath } from "../share-tree.ts";

interface Earlier {
  readonly epoch: number;
  /** Look for the file itself rather than for whatever had its name. */
  readonly followsRenames: boolean;
}

/** What a snapshot shows of a file: under the same path, or wherever the same file lay. */
export async function nodeAt(
  view: RecordView,
  { share, components, key }: NodeScope,
  target: NodeRecord,
  { epoch, followsRenames }: Earlier,
): Promise<NodeRecord | undefined> {
  const walked = await resolvePath(view, { share: share.id, epoch }, components);
  if (walked.target?.id === target.id || !followsRenames) return walked.target;
  const inPlace = await findNode(view, key, epoch);
  return inPlace?.id === target.id ? inPlace : findById(view, share.id, target.id, epoch);
}

/** Kept states looked through for one file; renames are rare, and so are those who ask. */
const lookedMax = 100_000;

async function findById(
  view: RecordView,
  share: bigint,
  id: bigint,
  epoch: number,
): Promise<NodeRecord | undefined> {
  const bounds = { ...versions.range([share]), limit: lookedMax };
  for await (const batch of view.scan(versions, bounds)) {
    for (const { record } of batch) {
      if (record.id === id && record.since <= epoch && record.until >= epoch) return record;
    }
  }
  return undefined;
}
