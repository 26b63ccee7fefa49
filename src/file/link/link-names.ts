import { put, remove, type Effect } from "../../operation/effects.ts";
import type { RecordView } from "../../operation/view.ts";
import type { Child } from "../directory/children.ts";
import { nodes, nodeLocations, type NodeKey, type NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { keepForSnapshots } from "../shared/node-replies.ts";
import { follow, type Alias, type ShareTree } from "../share-tree.ts";

/** A file with several names is stored under one of them. The other names are records with its
 *  id (`linkTo`), and it lists their keys (`links`). Only NFS shares have such files. */

/** The name that a file is stored under after its present one is deleted. */
export async function nextName(
  view: RecordView,
  share: bigint,
  { links = [] }: NodeRecord,
): Promise<Alias | undefined> {
  const [first] = links;
  if (first === undefined) return undefined;
  const key = { share, ...first };
  const node = await view.get(nodes, key);
  return node && { key, node };
}

/** Deletes a name that the file is not stored under. */
export function dropName(
  { share, key }: NodeScope,
  target: NodeRecord,
  alias: Alias,
): readonly Effect[] {
  const links = (target.links ?? []).filter((link) => !isAt(link, alias.key));
  const next = { ...target, links: orNone(links), since: share.epoch };
  return [
    ...keepForSnapshots({ share, key }, target),
    ...keepForSnapshots({ share, key: alias.key }, alias.node),
    remove(nodes, alias.key),
    put(nodes, key, next),
  ];
}

/** Stores the file under its next name and frees the present one. */
export function moveToNextName(
  { share, key }: NodeScope,
  target: NodeRecord,
  otherName: Alias,
): readonly Effect[] {
  const { parent, folded } = otherName.key;
  const next = {
    ...target,
    parent,
    name: otherName.node.name,
    links: orNone((target.links ?? []).slice(1)),
    since: share.epoch,
  };
  return [
    ...keepForSnapshots({ share, key }, target),
    ...keepForSnapshots({ share, key: otherName.key }, otherName.node),
    put(nodes, otherName.key, next),
    remove(nodes, key),
    put(nodeLocations, { share: share.id, id: target.id }, { parent, folded }),
  ];
}

/** Moves a name that the file is not stored under, and updates the file's list of names. */
export function moveLink(
  { share, key }: NodeScope,
  target: NodeRecord,
  move: { readonly link: Alias; readonly to: NodeKey; readonly called: NodeRecord },
): readonly Effect[] {
  const { link, to, called } = move;
  const { parent, folded } = to;
  const links = (target.links ?? []).map((each) =>
    isAt(each, link.key) ? { parent, folded } : each,
  );
  const since = share.epoch;
  const file = { ...called, parent: target.parent, name: target.name, links, since };
  const entry = { ...link.node, parent, name: called.name, since };
  return [
    ...keepForSnapshots({ share, key }, target),
    ...keepForSnapshots({ share, key: link.key }, link.node),
    put(nodes, key, file),
    ...(isAt({ parent, folded }, link.key) ? [] : [remove(nodes, link.key)]),
    put(nodes, to, entry),
  ];
}

function isAt(link: Omit<NodeKey, "share">, key: NodeKey): boolean {
  return link.parent === key.parent && link.folded === key.folded;
}

function orNone<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The record that a listing shows for a link: the file's, with the name of the link. */
export function resolveLinks(
  view: RecordView,
  tree: ShareTree,
  children: readonly Child[],
): Promise<readonly Child[]> {
  if (children.every(({ node }) => node.linkTo === undefined)) return Promise.resolve(children);
  return Promise.all(
    children.map(async (child) => {
      const { node } = child;
      if (node.linkTo === undefined) return child;
      const { target } = await follow(view, tree, node.linkTo);
      return target === undefined ? child : { ...child, node: { ...target, name: node.name } };
    }),
  );
}
