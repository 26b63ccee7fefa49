import type { Effect } from "../../operation/effects.ts";
import { put, remove } from "../../operation/effects.ts";
import type { Ticks } from "../../base/ticks.ts";
import { unmarkOpenChanges, type NodeChange } from "../events.ts";
import { breakCaches } from "../locks/caching.ts";
import type { LockState } from "../locks/lock-state.ts";
import { decideClose } from "../locks/opens.ts";
import { locks, rootId, type NodeRecord, type ShareRecord } from "../records.ts";
import { nodeKeyOf } from "../share-tree.ts";
import { removeNode } from "../shared/node-replies.ts";

/** Closes handles in the lock state of a file, for SMB and REST alike, and deletes the file if it
 *  was only kept for them. */

/** What `closeHandles` must know: the file, its lock state, and which handles to close. */
export interface CloseHandlesRequest {
  /** Undefined if the share was deleted, so that only the lock state remains. */
  readonly share: ShareRecord | undefined;
  /** Undefined if the file was deleted, so that only the lock state remains. */
  readonly node: NodeRecord | undefined;
  readonly locks: LockState;
  readonly handles: ReadonlySet<bigint>;
  /** Handles among `handles` through which content was changed (`openChanges`). */
  readonly changed: readonly bigint[];
  /** Whether this is a directory with entries, which is not deleted even if it is
   *  delete-pending. */
  readonly hasChildren: boolean;
  readonly now: Ticks;
}

/** The result of `closeHandles`. */
interface CloseHandlesResult {
  readonly effects: readonly Effect[];
  /** Whether the close deleted the file, because it was delete-pending and the handle was the
   *  last. */
  readonly isDeleted: boolean;
  /** Whether the file will be deleted when its other handles close. */
  readonly isPending: boolean;
  /** The events: one for each handle through which content was changed, and the deletion. */
  readonly changes: readonly NodeChange[];
}

/** Closes handles of one file, with their byte-range locks and caching grants. Called for SMB
 *  CLOSE, for Force Close Handles, and for the handles of a process that has ended. A
 *  delete-pending file is deleted with its last handle. `file` has the ids of share and file. */
export function closeHandles(
  file: { readonly share: bigint; readonly file: bigint },
  closing: CloseHandlesRequest,
): CloseHandlesResult {
  const { share, node, locks: before, handles, changed, hasChildren, now } = closing;
  const mayDelete = node !== undefined && node.id !== rootId && !hasChildren;
  const { state, deletesFile } = decideClose(before, handles, { mayDelete });
  const isDeleted = deletesFile && mayDelete && share !== undefined;
  const begins = state.deletePending && !before.deletePending;
  // The file is to be deleted now: breaks handle caching, so that clients close the handles that
  // they keep only for caching.
  const left = begins ? breakCaches(state, "remove", { now }).state : state;
  const key = { share: file.share, id: file.file };
  const written = node ? changed.map(() => ({ api: "SmbWrite", node }) as const) : [];
  return {
    effects: [
      ...(isDeleted ? removeNode({ share, key: nodeKeyOf(share.id, node), node }) : []),
      left.opens.length === 0 ? remove(locks, key) : put(locks, key, left),
      ...unmarkOpenChanges(file, changed),
    ],
    changes: isDeleted ? [...written, { api: "SmbDelete", node }] : written,
    isDeleted,
    isPending: node !== undefined && left.deletePending && !isDeleted,
  };
}
