import type { Ticks } from "../../base/ticks.ts";
import { put, remove, type Effect } from "../../operation/effects.ts";
import { deleteHardLink, moveHardLink, moveToHardLink } from "../link/hard-link-names.ts";
import {
  nodes,
  nodeLocations,
  type NodeKey,
  type NodeRecord,
  type ShareRecord,
  shareBytes,
} from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { keepForSnapshots, deleteNode, locate, useBytes } from "../shared/node-replies.ts";
import type { HardLink } from "../share-tree.ts";
import { displaceFile } from "./displace.ts";
import type { LocalSource } from "../shared/range-params.ts";

/** The effects of a rename: of a file node, and for REST of one of the names of a file with hard
 *  links. */

/** A rename over REST: the source, the new path and what exists there. */
interface NameMove {
  readonly source: LocalSource;
  readonly scope: NodeScope;
  /** The file that has the new name before the rename; undefined if there is none. */
  readonly target: NodeRecord | undefined;
  /** First hard link of `target`; undefined if it has none. */
  readonly targetLink: HardLink | undefined;
  /** The record of the renamed file after the rename. */
  readonly next: NodeRecord;
  readonly now: Ticks;
}

/** The effects of moving one name of a file. A replaced file with several names (hard links) loses
 *  only this one. If both names belong to the same file, nothing changes, as on POSIX systems. */
export function moveName(move: NameMove): readonly Effect[] {
  const { source, scope, target, next } = move;
  const { share, hardLink } = scope;
  const to = hardLink?.key ?? scope.key;
  const from = source.scope.hardLink?.key ?? source.scope.key;
  const isSameFile = target?.id === source.node.id;
  if (isSameFile && !isSameKey(from, to)) return [];
  const cleared = isSameFile || target === undefined ? [] : clearName(move, target);
  const replaced = isSameFile || cleared !== undefined ? undefined : target;
  const named = { ...next, parent: to.parent, name: scope.components.at(-1) ?? "" };
  const moved =
    source.scope.hardLink === undefined
      ? moveNode({ share, from, node: source.node, to, replaced, next: named })
      : [
          ...(replaced === undefined ? [] : removeReplaced({ share, key: to }, replaced)),
          ...moveHardLink(source.scope, source.node, { link: source.scope.hardLink, to, named }),
        ];
  return [...(cleared ?? []), ...moved];
}

/** The effects that take the new name from a file with several names, or with open handles.
 *  Undefined if the file has only this name and no handle, and is deleted instead. */
function clearName(
  { scope, targetLink, now }: NameMove,
  target: NodeRecord,
): readonly Effect[] | undefined {
  const { share, key, locks: held, hardLink } = scope;
  if (hardLink !== undefined) return deleteHardLink(scope, target, hardLink);
  if (targetLink !== undefined) return moveToHardLink(scope, target, targetLink);
  const isOpen = held !== undefined && held.opens.length > 0;
  return isOpen ? displaceFile({ share, key, node: target, held }, now) : undefined;
}

function removeReplaced(at: { share: ShareRecord; key: NodeKey }, node: NodeRecord) {
  const { preserve, effects } = deleteNode(at, node);
  return [...preserve, ...effects];
}

function isSameKey(one: NodeKey, other: NodeKey): boolean {
  return one.parent === other.parent && one.folded === other.folded;
}

/** The move of a file node from one key of `nodes` to another, by REST or SMB. */
interface NodeMove {
  readonly share: ShareRecord;
  readonly from: NodeKey;
  readonly node: NodeRecord;
  readonly to: NodeKey;
  /** The file that is replaced; undefined if there is none, or if its deletion is a separate
   *  effect. */
  readonly replaced: NodeRecord | undefined;
  readonly next: NodeRecord;
}

/** The effects of moving the record of a file node. Records below a directory stay, because they
 *  refer to it by its id. Versions of moved and replaced record are kept for snapshots. */
export function moveNode({ share, from, node, to, replaced, next }: NodeMove): readonly Effect[] {
  const staysPut = isSameKey(from, to);
  const other = replaced?.id === node.id ? undefined : replaced;
  return [
    ...keepForSnapshots({ share, key: from }, node),
    ...(staysPut ? [] : keepForSnapshots({ share, key: to }, other)),
    ...(other === undefined ? [] : [remove(nodeLocations, { share: share.id, id: other.id })]),
    put(nodes, to, { ...next, since: share.epoch }),
    ...(staysPut ? [] : [remove(nodes, from)]),
    locate(share, node, to),
    ...useBytes(share.id, other === undefined ? 0 : -shareBytes(other)),
  ];
}
