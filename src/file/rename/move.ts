import { put, remove, type Effect } from "../../operation/effects.ts";
import { dropName, moveLink, passOn } from "../link/link-names.ts";
import {
  nodes,
  nodeLocations,
  type NodeKey,
  type NodeRecord,
  type ShareRecord,
} from "../records.ts";
import type { NodeScope } from "../resources.ts";
import type { OwnSource } from "../shared/own-source.ts";
import { keepForSnapshots, deleteNode, useBytes } from "../shared/node-replies.ts";
import type { Alias } from "../share-tree.ts";

export interface NameMove {
  readonly own: OwnSource;
  /** Where to. */
  readonly scope: NodeScope;
  /** The file that the new name means so far. */
  readonly target: NodeRecord | undefined;
  /** Another name of that file. */
  readonly heir: Alias | undefined;
  readonly next: NodeRecord;
}

/** A file with several names loses only the one that is taken from it, and only the name moves by
 *  which a file was called. Between two names of one file nothing moves, as on any POSIX system. */
export function moveName({ own, scope, target, heir, next }: NameMove): readonly Effect[] {
  const { share, alias } = scope;
  const to = alias?.key ?? scope.key;
  const from = own.scope.alias?.key ?? own.scope.key;
  const isOwn = target?.id === own.node.id;
  if (isOwn && !isSameKey(from, to)) return [];
  const cleared = isOwn || target === undefined ? [] : clearName(scope, target, heir);
  const replaced = isOwn || cleared !== undefined ? undefined : target;
  const called = { ...next, parent: to.parent, name: scope.components.at(-1) ?? "" };
  const moved =
    own.scope.alias === undefined
      ? moveNode({ share, from, node: own.node, to, replaced, next: called })
      : [
          ...(replaced === undefined ? [] : takenAway({ share, key: to }, replaced)),
          ...moveLink(own.scope, own.node, { link: own.scope.alias, to, called }),
        ];
  return [...(cleared ?? []), ...moved];
}

/** Nothing if the file has no other name to go to. */
function clearName(
  scope: NodeScope,
  target: NodeRecord,
  heir: Alias | undefined,
): readonly Effect[] | undefined {
  if (scope.alias !== undefined) return dropName(scope, target, scope.alias);
  return heir === undefined ? undefined : passOn(scope, target, heir);
}

function takenAway(place: { share: ShareRecord; key: NodeKey }, node: NodeRecord) {
  const { preserve, effects } = deleteNode(place, node);
  return [...preserve, ...effects];
}

function isSameKey(one: NodeKey, other: NodeKey): boolean {
  return one.parent === other.parent && one.folded === other.folded;
}

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
  const staysPut = isSameKey(from, to);
  const other = replaced?.id === node.id ? undefined : replaced;
  return [
    ...keepForSnapshots({ share, key: from }, node),
    ...(staysPut ? [] : keepForSnapshots({ share, key: to }, other)),
    ...(other === undefined ? [] : [remove(nodeLocations, { share: share.id, id: other.id })]),
    put(nodes, to, { ...next, since: share.epoch }),
    ...(staysPut ? [] : [remove(nodes, from)]),
    put(nodeLocations, { share: share.id, id: node.id }, { parent: to.parent, folded: to.folded }),
    ...useBytes(share.id, -(other?.allocated ?? 0)),
  ];
}
