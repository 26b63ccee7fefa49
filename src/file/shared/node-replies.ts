import type { ContentPlan } from "../../content/content-ref.ts";
import { add, put, remove, type Effect } from "../../operation/effects.ts";
import {
  displacedParent,
  nodeLocations,
  shareUsage,
  versionEnds,
  versions,
  type NodeKey,
  type NodeRecord,
  type ShareRecord,
  shareBytes,
} from "../records.ts";

/** The key of a file node, and the share that it is in. */
interface NodeWriteTarget {
  readonly share: ShareRecord;
  readonly key: NodeKey;
}

/** The effects that store a version of a record before it changes or is removed. Empty if no
 *  snapshot shows the record; none shows a displaced file. */
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

/** The reply that changes a file node in place. */
export function updateNode(
  { share, key }: NodeWriteTarget,
  { target, next, content }: { target: NodeRecord; next: NodeRecord; content?: ContentPlan },
) {
  const changed: NodeRecord = { ...next, since: share.epoch };
  return {
    put: changed,
    ...(content === undefined ? {} : { content }),
    preserve: keepForSnapshots({ share, key }, target),
    effects: useBytes(share.id, shareBytes(next) - shareBytes(target)),
  };
}

/** The reply that creates a file node, or replaces the one of the same name. */
export function putNode(
  { share, key }: NodeWriteTarget,
  {
    target,
    next,
    content,
  }: {
    readonly target: NodeRecord | undefined;
    readonly next: NodeRecord;
    readonly content?: ContentPlan;
  },
) {
  const changed: NodeRecord = { ...next, since: share.epoch };
  return {
    put: changed,
    ...(content === undefined ? {} : { content }),
    preserve: keepForSnapshots({ share, key }, target),
    effects: [
      put(
        nodeLocations,
        { share: share.id, id: next.id },
        { parent: key.parent, folded: key.folded },
      ),
      ...useBytes(share.id, shareBytes(next) - (target === undefined ? 0 : shareBytes(target))),
    ],
  };
}

/** The reply that deletes a file node. */
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

/** The effect that adds to the bytes in use of a share; `delta` may be negative. */
export function useBytes(share: bigint, delta: number): readonly Effect[] {
  return delta === 0 ? nothing : [add(shareUsage.key(share), BigInt(delta))];
}
