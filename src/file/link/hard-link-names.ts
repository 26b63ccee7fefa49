import { put, remove, type Effect } from "../../operation/effects.ts";
import type { RecordView } from "../../operation/view.ts";
import type { Child } from "../directory/children.ts";
import { nodes, type NodeKey, type NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { keepForSnapshots, locate } from "../shared/node-replies.ts";
import { loadLinkedFile, type HardLink, type ShareTree } from "../share-tree.ts";

/** Hard links, which only NFS shares have. A file with several names is stored under one of them.
 *  Each other name is a record with the id of the file (`linkTo`), and the record of the file lists
 *  the keys of these records (`links`). */

/** The first hard link of a file; undefined if it has none. When the name that the file is stored
 *  under is deleted, the file moves to this one. */
export async function firstHardLink(
  view: RecordView,
  share: bigint,
  { links = [] }: NodeRecord,
): Promise<HardLink | undefined> {
  const [first] = links;
  if (first === undefined) return undefined;
  const key = { share, ...first };
  const node = await view.get(nodes, key);
  return node && { key, node };
}

/** The effects of deleting a hard link, a name that the file is not stored under: also removes it
 *  from the list in the record of the file. */
export function deleteHardLink(
  { share, key }: NodeScope,
  target: NodeRecord,
  link: HardLink,
): readonly Effect[] {
  const links = (target.links ?? []).filter((each) => !isAt(each, link.key));
  const next = { ...target, links: orNone(links), since: share.epoch };
  return [
    ...keepForSnapshots({ share, key }, target),
    ...keepForSnapshots({ share, key: link.key }, link.node),
    remove(nodes, link.key),
    put(nodes, key, next),
  ];
}

/** The effects of deleting the name that a file is stored under, while it has others: stores the
 *  file under the name of its first hard link instead. */
export function moveToHardLink(
  { share, key }: NodeScope,
  target: NodeRecord,
  link: HardLink,
): readonly Effect[] {
  const next = {
    ...target,
    parent: link.key.parent,
    name: link.node.name,
    links: orNone((target.links ?? []).slice(1)),
    since: share.epoch,
  };
  return [
    ...keepForSnapshots({ share, key }, target),
    ...keepForSnapshots({ share, key: link.key }, link.node),
    put(nodes, link.key, next),
    remove(nodes, key),
    locate(share, target, link.key),
  ];
}

/** Renames a hard link: moves its record, and updates the list in the record of the file. */
export function moveHardLink(
  { share, key }: NodeScope,
  target: NodeRecord,
  move: { readonly link: HardLink; readonly to: NodeKey; readonly named: NodeRecord },
): readonly Effect[] {
  const { link, to, named } = move;
  const { parent, folded } = to;
  const links = (target.links ?? []).map((each) =>
    isAt(each, link.key) ? { parent, folded } : each,
  );
  const since = share.epoch;
  const file = { ...named, parent: target.parent, name: target.name, links, since };
  const entry = { ...link.node, parent, name: named.name, since };
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

/** An empty list is stored as undefined: the record of a file without hard links has no list. */
function orNone<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Replaces each hard link in a listing of SMB or REST by the record of its file, with the name of
 *  the link: clients do not see which name is the link. */
export function resolveHardLinks(
  view: RecordView,
  tree: ShareTree,
  children: readonly Child[],
): Promise<readonly Child[]> {
  if (children.every(({ node }) => node.linkTo === undefined)) return Promise.resolve(children);
  return Promise.all(
    children.map(async (child) => {
      const { node } = child;
      if (node.linkTo === undefined) return child;
      const { target } = await loadLinkedFile(view, tree, node.linkTo);
      return target === undefined ? child : { ...child, node: { ...target, name: node.name } };
    }),
  );
}
