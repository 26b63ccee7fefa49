import type { ContentPlan } from "../../content/content-ref.ts";
import { put, remove, type Effect } from "../../operation/effects.ts";
import type { Ticks } from "../../base/ticks.ts";
import { nodes, type NodeRecord, type ShareRecord } from "../records.ts";
import { putNode, updateNode, deleteNode } from "../shared/node-replies.ts";
import { nodeKeyOf } from "../share-tree.ts";
import type { LoadedNode } from "./handle-operation.ts";

/** Changes of file nodes as effects, for SMB operations. REST operations express the same changes
 *  as replies (`shared/node-replies.ts`). */

/** Changes a file node without changing its key. */
export function changeNode(
  { share, key, node: target }: LoadedNode,
  next: NodeRecord,
  content?: ContentPlan,
): readonly Effect[] {
  const plan = content === undefined ? {} : { content };
  const { put: record, preserve, effects } = updateNode({ share, key }, { target, next, ...plan });
  return [...preserve, put(nodes, key, record, content), ...effects];
}

/** Creates a file node and updates the times of its directory. */
export function addEntry(
  { share, key, node: next }: LoadedNode,
  { parent, now, content }: { parent: NodeRecord; now: Ticks; content?: ContentPlan | undefined },
): readonly Effect[] {
  const plan = content === undefined ? {} : { content };
  const target = undefined;
  const { put: record, preserve, effects } = putNode({ share, key }, { target, next, ...plan });
  const added = [...preserve, put(nodes, key, record, content), ...effects];
  return [...added, ...entriesChanged(share, parent, now)];
}

/** Deletes a file node without updating the times of its directory, for a name that is reused in
 *  the same transaction. */
export function removeNode({ share, key, node }: LoadedNode): readonly Effect[] {
  const { preserve, effects } = deleteNode({ share, key }, node);
  return [...preserve, remove(nodes, key), ...effects];
}

/**
 * Updates the times of a directory whose entries changed, as Windows and Samba do. Only for SMB:
 * over REST, Azure Files leaves the directory unchanged. Its ETag and Last-Modified never change.
 */
export function entriesChanged(
  share: ShareRecord,
  directory: NodeRecord,
  now: Ticks,
): readonly Effect[] {
  const key = nodeKeyOf(share.id, directory);
  const next = { ...directory, lastWrite: now, change: now };
  return changeNode({ share, key, node: directory }, next);
}
