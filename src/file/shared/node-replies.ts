import type { ContentPlan } from "../../content/content-ref.ts";
import { add, put, remove, type Effect } from "../../operation/effects.ts";
import {
  displacedParent,
  nodeLocations,
  nodes,
  shareUsage,
  versionEnds,
  versions,
  type NodeKey,
  type NodeRecord,
  type ShareRecord,
  shareBytes,
} from "../records.ts";

/**
 * How file nodes are stored, changed and deleted: replies for REST operations, effects for SMB and
 * background tasks.
 *
 * Share snapshots copy on write. A share has an epoch, which each snapshot raises. A node
 * whose `since` is not later than the newest snapshot is shown by that snapshot, so a version of
 * its record is stored before a change. `versionEnds` finds the versions that a deleted snapshot no
 * longer needs.
 */

/** Where a file node is stored: its key and the record of its share. */
interface NodeWriteTarget {
  readonly share: ShareRecord;
  readonly key: NodeKey;
}

/** The effects that store a version of a record before it changes or is removed. Empty if no
 *  snapshot shows the record. No snapshot shows a displaced file (replaced by a rename while
 *  open). */
export function keepForSnapshots(
  { share, key }: NodeWriteTarget,
  target: NodeRecord | undefined,
): readonly Effect[] {
  if (target === undefined || target.since > share.newestSnapshot) return nothing;
  if (key.parent === displacedParent) return nothing;
  const until = share.newestSnapshot;
  const at = { ...key, since: target.since };
  const version = { ...target, lease: undefined, until };
  return [put(versions, at, version), put(versionEnds, { ...at, until }, {})];
}

const nothing: readonly Effect[] = [];

/** A file node before and after a change, and the plan of its content if that changes. */
interface NodeChange<Target> {
  readonly target: Target;
  readonly next: NodeRecord;
  readonly content?: ContentPlan | undefined;
}

/** The reply that changes a file node in place, and keeps a version for share snapshots. */
export function updateNode(
  { share, key }: NodeWriteTarget,
  { target, next, content }: NodeChange<NodeRecord>,
) {
  const changed: NodeRecord = { ...next, since: share.epoch };
  return {
    put: changed,
    content,
    preserve: keepForSnapshots({ share, key }, target),
    effects: useBytes(share.id, shareBytes(next) - shareBytes(target)),
  };
}

/** The reply that creates a file node, or replaces the one of the same name, of which it keeps a
 *  version for share snapshots. */
export function putNode(
  { share, key }: NodeWriteTarget,
  { target, next, content }: NodeChange<NodeRecord | undefined>,
) {
  const changed: NodeRecord = { ...next, since: share.epoch };
  return {
    put: changed,
    content,
    preserve: keepForSnapshots({ share, key }, target),
    effects: [
      locate(share, next, key),
      ...useBytes(share.id, shareBytes(next) - (target === undefined ? 0 : shareBytes(target))),
    ],
  };
}

/** The effect that stores the key of a file node under its id, by which handles find it. */
export function locate({ id: share }: ShareRecord, { id }: NodeRecord, key: NodeKey): Effect {
  return put(nodeLocations, { share, id }, { parent: key.parent, folded: key.folded });
}

export function deleteNode({ share, key }: NodeWriteTarget, target: NodeRecord) {
  return {
    remove: true as const,
    preserve: keepForSnapshots({ share, key }, target),
    effects: [
      remove(nodeLocations, { share: share.id, id: target.id }),
      ...useBytes(share.id, -shareBytes(target)),
    ],
  };
}

/** The effects that delete a file node, for SMB operations and background tasks, which have no
 *  reply. */
export function removeNode({
  share,
  key,
  node,
}: NodeWriteTarget & { readonly node: NodeRecord }): readonly Effect[] {
  const { preserve, effects } = deleteNode({ share, key }, node);
  return [...preserve, remove(nodes, key), ...effects];
}

/** Adds to the bytes in use of a share, for its quota and statistics; `delta` may be negative. */
export function useBytes(share: bigint, delta: number): readonly Effect[] {
  return delta === 0 ? nothing : [add(shareUsage.key(share), BigInt(delta))];
}
