import { put, remove, type Effect } from "../../core/effects.ts";
import { nodes, places, type NodeKey, type NodeRecord, type ShareRecord } from "../records.ts";
import { keepForSnapshots, useBytes } from "../shared/revise.ts";

export interface Move {
  readonly share: ShareRecord;
  readonly from: NodeKey;
  readonly node: NodeRecord;
  readonly to: NodeKey;
  /** What it takes the place of. */
  readonly replaced: NodeRecord | undefined;
  readonly next: NodeRecord;
}

/** One key moves, whatever hangs below it. Snapshots keep what both names meant. */
export function moveNode({ share, from, node, to, replaced, next }: Move): readonly Effect[] {
  const staysPut = from.parent === to.parent && from.folded === to.folded;
  const other = replaced?.id === node.id ? undefined : replaced;
  return [
    ...keepForSnapshots({ share, key: from }, node),
    ...(staysPut ? [] : keepForSnapshots({ share, key: to }, other)),
    ...(other === undefined ? [] : [remove(places, { share: share.id, id: other.id })]),
    put(nodes, to, { ...next, since: share.epoch }),
    ...(staysPut ? [] : [remove(nodes, from)]),
    put(places, { share: share.id, id: node.id }, { parent: to.parent, folded: to.folded }),
    ...useBytes(share.id, -(other?.allocated ?? 0)),
  ];
}
