import { put, remove, type Effect } from "../../operation/effects.ts";
import { dropName, moveLink, moveToNextName } from "../link/link-names.ts";
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
  /** The scope of the new name. */
  readonly scope: NodeScope;
  /** The file that has the new name now. */
  readonly target: NodeRecord | undefined;
  /** Another name of `target`. */
  readonly otherName: Alias | undefined;
  readonly next: NodeRecord;
}

/** Moves one name of a file. A replaced file with several names loses only this one. Between two
 *  names of one file nothing changes, as on POSIX systems. */
export function moveName({ own, scope, target, otherName, next }: NameMove): readonly Effect[] {
  const { share, alias } = scope;
  const to = alias?.key ?? scope.key;
  const from = own.scope.alias?.key ?? own.scope.key;
  const isOwn = target?.id === own.node.id;
  if (isOwn && !isSameKey(from, to)) return [];
  const cleared = isOwn || target === undefined ? [] : clearName(scope, target, otherName);
  const replaced = isOwn || cleared !== undefined ? undefined : target;
  const called = { ...next, parent: to.parent, name: scope.components.at(-1) ?? "" };
  const moved =
    own.scope.alias === undefined
      ? moveNode({ share, from, node: own.node, to, replaced, next: called })
      : [
          ...(replaced === undefined ? [] : removeReplaced({ share, key: to }, replaced)),
          ...moveLink(own.scope, own.node, { link: own.scope.alias, to, called }),
        ];
  return [...(cleared ?? []), ...moved];
}

/** Undefined if the file has no other name. */
function clearName(
  scope: NodeScope,
  target: NodeRecord,
  otherName: Alias | undefined,
): readonly Effect[] | undefined {
  if (scope.alias !== undefined) return dropName(scope, target, scope.alias);
  return otherName === undefined ? undefined : moveToNextName(scope, target, otherName);
}

function removeReplaced(place: { share: ShareRecord; key: NodeKey }, node: NodeRecord) {
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
  /** The file that is replaced. */
  readonly replaced: NodeRecord | undefined;
  readonly next: NodeRecord;
}

/** Moves one key, whatever lies below it. Snapshots keep both records. */
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
