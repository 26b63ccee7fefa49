import type { Ticks } from "../../base/ticks.ts";
import { anyTable } from "../../encoding/table.ts";
import { periodJob, put, remove, type Effect } from "../../operation/effects.ts";
import type { ReclaimHandler } from "../../operation/service.ts";
import { nextETag } from "../../protocol/conditions.ts";
import type { LockState } from "../locks/lock-state.ts";
import {
  displacedCheckTicks,
  displacedParent,
  locks,
  nodeLocations,
  nodes,
  shareUsage,
  type NodeKey,
  type NodeRecord,
  type ShareRecord,
  shareBytes,
} from "../records.ts";
import { keepForSnapshots, locate } from "../shared/node-replies.ts";
import { nodeById, nodeKeyOf } from "../share-tree.ts";

/** Displaced files, for renames over REST and SMB. A rename replaces a file that clients have open:
 *  the file keeps its handles, but has no name, and is deleted when they close. */

/** An open file that a rename is about to replace, with its lock state. */
interface DisplacedFile {
  readonly share: ShareRecord;
  readonly key: NodeKey;
  readonly node: NodeRecord;
  readonly held: LockState;
}

/** The effects that take its name from an open file. Its handles keep it, because they refer to it
 *  by its id; the last close deletes it. */
export function displaceFile(
  { share, key, node, held }: DisplacedFile,
  now: Ticks,
): readonly Effect[] {
  const newETag = nextETag(now, node.etag);
  const next: NodeRecord = {
    ...node,
    parent: displacedParent,
    etag: newETag,
    change: newETag,
    since: share.epoch,
    lease: undefined,
  };
  const to = nodeKeyOf(share.id, next);
  return [
    ...keepForSnapshots({ share, key }, node),
    // Before the removal, so that the content always has a record that refers to it.
    put(nodes, to, next),
    remove(nodes, key),
    locate(share, node, to),
    put(locks, { share: share.id, id: node.id }, { ...held, deletePending: true }),
    ...periodJob(nodes, to, next),
  ];
}

/** The reclaim job of a displaced file: deletes it if it has no handle, else looks again later. */
export const reclaimDisplaced: ReclaimHandler = async (view, scope) => {
  const [share, id] = scope as [bigint, bigint];
  const node = await nodeById(view, share, id);
  if (node?.parent !== displacedParent) return { done: true };
  const held = await view.get(locks, { share, id });
  if (held !== undefined && held.opens.length > 0) {
    const due = view.now + displacedCheckTicks;
    return { jobs: [{ kind: "file-displaced", scope, due }], done: true };
  }
  return {
    removals: [
      { table: anyTable(nodes), key: nodes.key(nodeKeyOf(share, node)) },
      { key: nodeLocations.key({ share, id }) },
    ],
    counts: [{ counter: shareUsage.key(share), delta: BigInt(-shareBytes(node)) }],
    done: true,
  };
};
