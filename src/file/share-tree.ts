import type { RecordView } from "../operation/view.ts";
import { nodes, nodeLocations, rootId, versions } from "./records.ts";
import type { NodeKey, NodeRecord } from "./records.ts";
import { foldName } from "./shared/fold.ts";

/** The directory tree of a share, at present or at the end of an epoch. */
export interface ShareTree {
  readonly share: bigint;
  /** Undefined for the present. */
  readonly epoch?: number | undefined;
}

/** The result of resolving a path. */
export interface ResolvedPath {
  /** The directory of the last component; undefined if it does not exist. */
  readonly parent: NodeRecord | undefined;
  readonly key: NodeKey;
  readonly target: NodeRecord | undefined;
  /** Ids from the root to the parent. */
  readonly trail: readonly bigint[];
  /** Set if the last component is a hard link: the link itself. */
  readonly alias?: Alias | undefined;
}

export interface Alias {
  readonly key: NodeKey;
  readonly node: NodeRecord;
}

export function rootKey(share: bigint): NodeKey {
  return { share, parent: rootId, folded: "" };
}

/** The record of a name: the present one if it is old enough, else the newest version that is. */
export async function findNode(
  view: RecordView,
  key: NodeKey,
  epoch: number | undefined,
): Promise<NodeRecord | undefined> {
  const current = await view.get(nodes, key);
  if (epoch === undefined || (current !== undefined && current.since <= epoch)) return current;
  const { share, parent, folded } = key;
  const bounds = {
    start: versions.prefix([share, parent, folded]),
    end: versions.prefix([share, parent, folded, epoch + 1]),
    reverse: true,
    limit: 1,
  };
  for await (const [newest] of view.scan(versions, bounds)) {
    if (newest !== undefined && newest.record.until >= epoch) return newest.record;
  }
  return undefined;
}

/** Follows a path from the root, one look-up for each component. */
export async function resolvePath(
  view: RecordView,
  tree: ShareTree,
  components: readonly string[],
): Promise<ResolvedPath> {
  const root = await findNode(view, rootKey(tree.share), tree.epoch);
  let at: ResolvedPath = { parent: root, key: rootKey(tree.share), target: root, trail: [] };
  for (const name of components) {
    const parent: NodeRecord | undefined = at.target?.kind === "directory" ? at.target : undefined;
    const key = {
      share: tree.share,
      parent: parent?.id ?? rootId,
      folded: foldName(name),
    };
    if (parent === undefined) return { parent, key, target: undefined, trail: at.trail };
    const found = await findNode(view, key, tree.epoch);
    const step = { parent, trail: [...at.trail, parent.id] };
    at =
      found?.linkTo === undefined
        ? { ...step, key, target: found }
        : { ...step, ...(await follow(view, tree, found.linkTo)), alias: { key, node: found } };
  }
  return at;
}

/** Loads the file of a hard link. */
export async function follow(
  view: RecordView,
  { share, epoch }: ShareTree,
  id: bigint,
): Promise<{ readonly key: NodeKey; readonly target: NodeRecord | undefined }> {
  const place = await view.get(nodeLocations, { share, id });
  const key = { share, ...(place ?? rootKey(share)) };
  const target = place && (await findNode(view, key, epoch));
  return { key, target };
}

/** Deeper than any path can name. */
const depthMax = 256;

/** The present path of a file node; undefined if it was deleted. */
export async function pathOf(
  view: RecordView,
  share: bigint,
  id: bigint,
): Promise<readonly string[] | undefined> {
  const names: string[] = [];
  let at = id;
  for (let depth = 0; at !== rootId && depth < depthMax; depth += 1) {
    const node = await nodeById(view, share, at);
    if (node === undefined) return undefined;
    names.unshift(node.name);
    at = node.parent;
  }
  return names;
}

export async function nodeById(
  view: RecordView,
  share: bigint,
  id: bigint,
): Promise<NodeRecord | undefined> {
  if (id === rootId) return view.get(nodes, rootKey(share));
  const place = await view.get(nodeLocations, { share, id });
  return place && view.get(nodes, { share, ...place });
}

export function nodeKeyOf(share: bigint, { id, parent, name }: NodeRecord): NodeKey {
  return id === rootId ? rootKey(share) : { share, parent, folded: foldName(name) };
}
