import type { ContentPlan } from "../../content/content-ref.ts";
import { add, put, remove, type Effect } from "../../operation/effects.ts";
import {
  nodeLocations,
  usageCounter,
  versionEnds,
  versions,
  type NodeKey,
  type NodeRecord,
  type ShareRecord,
} from "../records.ts";

interface Place {
  readonly share: ShareRecord;
  readonly key: NodeKey;
}

/** Before a node changes: keeps what the newest snapshot shows of it, if it shows it at all. */
export function keepForSnapshots(
  { share, key }: Place,
  target: NodeRecord | undefined,
): readonly Effect[] {
  if (target === undefined || target.since > share.newestSnapshot) return nothing;
  const until = share.newestSnapshot;
  const at = { ...key, since: target.since };
  const version = { ...target, lease: undefined, until };
  return [put(versions, at, version), put(versionEnds, { ...at, until }, {})];
}

const nothing: readonly Effect[] = [];

/** The answer that changes a node in its place. */
export function updateNode(
  { share, key }: Place,
  { target, next, content }: { target: NodeRecord; next: NodeRecord; content?: ContentPlan },
) {
  return {
    put: { ...next, since: share.epoch },
    ...(content === undefined ? {} : { content }),
    preserve: keepForSnapshots({ share, key }, target),
    effects: useBytes(share.id, (next.allocated ?? 0) - (target.allocated ?? 0)),
  };
}

/** A new node, or one that takes the place of another under the same name. */
export function putNode(
  { share, key }: Place,
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
  return {
    put: { ...next, since: share.epoch },
    ...(content === undefined ? {} : { content }),
    preserve: keepForSnapshots({ share, key }, target),
    effects: [
      put(
        nodeLocations,
        { share: share.id, id: next.id },
        { parent: key.parent, folded: key.folded },
      ),
      ...useBytes(share.id, (next.allocated ?? 0) - (target?.allocated ?? 0)),
    ],
  };
}

/** The answer that takes a node away. */
export function deleteNode({ share, key }: Place, target: NodeRecord) {
  return {
    remove: true as const,
    preserve: keepForSnapshots({ share, key }, target),
    effects: [
      remove(nodeLocations, { share: share.id, id: target.id }),
      ...useBytes(share.id, -(target.allocated ?? 0)),
    ],
  };
}

export function useBytes(share: bigint, delta: number): readonly Effect[] {
  return delta === 0 ? nothing : [add(usageCounter(share), BigInt(delta))];
}
