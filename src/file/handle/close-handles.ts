import type { Effect } from "../../operation/effects.ts";
import { put, remove } from "../../operation/effects.ts";
import type { Ticks } from "../../base/ticks.ts";
import { breakCaches } from "../locks/caching.ts";
import type { LockState } from "../locks/lock-state.ts";
import { decideClose } from "../locks/opens.ts";
import { locks, nodes, rootId, type NodeRecord, type ShareRecord } from "../records.ts";
import { nodeKeyOf } from "../share-tree.ts";
import { deleteNode } from "../shared/node-replies.ts";

export interface Closing {
  /** Undefined if it was deleted: then nothing but the lock state is left. */
  readonly share: ShareRecord | undefined;
  readonly node: NodeRecord;
  readonly locks: LockState;
  /** The handles to close. */
  readonly handles: ReadonlySet<bigint>;
  /** Whether the file is a directory that is not empty: it is not deleted. */
  readonly hasChildren: boolean;
  readonly now: Ticks;
}

export interface ClosedHandles {
  readonly effects: readonly Effect[];
  /** The file was deleted with its last handle. */
  readonly isGone: boolean;
  /** The file will be deleted when other handles close. */
  readonly isPending: boolean;
}

/** Closes handles of one file: by SMB CLOSE, by Force Close Handles, or because their process
 *  ended. A delete-pending file is deleted with its last handle. */
export function closeHandles(shareId: bigint, closing: Closing): ClosedHandles {
  const { share, node, locks: before, handles, hasChildren, now } = closing;
  const mayDelete = node.id !== rootId && !hasChildren;
  const { state, gone } = decideClose(before, handles, { mayDelete });
  const isGone = gone && mayDelete && share !== undefined;
  const begins = state.deletePending && !before.deletePending;
  // Clients that keep the file open only for caching are asked to close it.
  const left = begins ? breakCaches(state, "remove", { now }).state : state;
  const key = { share: shareId, id: node.id };
  return {
    effects: [
      ...(isGone ? removeFile(share, node) : []),
      left.opens.length === 0 ? remove(locks, key) : put(locks, key, left),
    ],
    isGone,
    isPending: left.deletePending && !isGone,
  };
}

/** The effects of deleting a file whose key is derived from its record. */
export function removeFile(share: ShareRecord, node: NodeRecord): readonly Effect[] {
  const key = nodeKeyOf(share.id, node);
  const { preserve, effects } = deleteNode({ share, key }, node);
  return [...preserve, remove(nodes, key), ...effects];
}
