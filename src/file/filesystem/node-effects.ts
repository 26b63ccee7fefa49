import type { ContentPlan } from "../../content/content-ref.ts";
import { put, remove, type Effect } from "../../operation/effects.ts";
import type { Ticks } from "../../base/ticks.ts";
import { nodes, type NodeRecord, type ShareRecord } from "../records.ts";
import { putNode, updateNode, deleteNode } from "../shared/node-replies.ts";
import { nodeById, nodeKeyOf } from "../share-tree.ts";
import type { Found, FileTransaction } from "./file-transaction.ts";

/** The same rules as behind REST's answers, as plain effects for a transaction of a handle. */

/** A node changes where it is. */
export function changeNode(
  { share, key, node: target }: Found,
  next: NodeRecord,
  content?: ContentPlan,
): readonly Effect[] {
  const plan = content === undefined ? {} : { content };
  const { put: record, preserve, effects } = updateNode({ share, key }, { target, next, ...plan });
  return [...preserve, put(nodes, key, record, content), ...effects];
}

/** An entry that was not there. */
export function addEntry(
  { share, key, node: next }: Found,
  { parent, now, content }: { parent: NodeRecord; now: Ticks; content?: ContentPlan | undefined },
): readonly Effect[] {
  const plan = content === undefined ? {} : { content };
  const target = undefined;
  const { put: record, preserve, effects } = putNode({ share, key }, { target, next, ...plan });
  const added = [...preserve, put(nodes, key, record, content), ...effects];
  return [...added, ...entriesChanged(share, parent, now)];
}

export async function removeEntry(work: FileTransaction, found: Found): Promise<readonly Effect[]> {
  const { share, node } = found;
  const parent = await nodeById(work.view, share.id, node.parent);
  const touched = parent === undefined ? [] : entriesChanged(share, parent, work.now);
  return [...removeNode(found), ...touched];
}

/** Without a word to the directory, for an entry whose name is taken in the same transaction. */
export function removeNode({ share, key, node }: Found): readonly Effect[] {
  const { preserve, effects } = deleteNode({ share, key }, node);
  return [...preserve, remove(nodes, key), ...effects];
}

/**
 * The times of a directory follow its entries, as Windows and Samba have it. Only for what SMB
 * clients do: over REST the service leaves all of the directory as it is, and its ETag and
 * Last-Modified stay here, too.
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
