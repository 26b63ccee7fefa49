import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { RecordView } from "../operation/view.ts";
import {
  displacedParent,
  nodes,
  nodeLocations,
  rootId,
  versions,
  type NodeKey,
  type NodeRecord,
} from "./records.ts";

/** Finds files by path or id, in the current state of a share or in a snapshot. */

/** The form of a name in keys: names that differ only in case are equal. Each UTF-16 code unit is
 *  converted to upper case by itself, as NTFS does, so that the result depends on no locale and has
 *  the length of the name. */
export function foldName(name: string): string {
  if (plainForm.test(name)) return name.toUpperCase();
  let folded = "";
  for (let at = 0; at < name.length; at += 1) {
    const unit = name.charAt(at);
    const upper = unit.toUpperCase();
    folded += upper.length === 1 ? upper : unit;
  }
  return folded;
}

// oxlint-disable-next-line no-control-regex
const plainForm = /^[\x00-\x7f]*$/;

/** Where functions look for files: the directory tree of a share, in its current state or as a
 *  share snapshot shows it. */
export interface ShareTree {
  readonly share: bigint;
  /** Epoch of the share snapshot; undefined for the current state. */
  readonly epoch?: number | undefined;
}

/** The file or directory that a path names, and the directory that it is in. */
export interface ResolvedPath {
  /** The directory of the last component; undefined if it does not exist. */
  readonly parent: NodeRecord | undefined;
  /** Key of the target, or the key that it would get. */
  readonly key: NodeKey;
  /** Undefined if no file has this path. */
  readonly target: NodeRecord | undefined;
  /** Ids of the directories from the root to the parent, with which a rename finds that it would
   *  move a directory below itself. */
  readonly trail: readonly bigint[];
  /** Set if the last component is a hard link: `key` and `target` are then those of the file that
   *  it refers to. */
  readonly hardLink?: HardLink | undefined;
}

export interface HardLink {
  readonly key: NodeKey;
  readonly node: NodeRecord;
}

export function rootKey(share: bigint): NodeKey {
  return { share, parent: rootId, folded: "" };
}

/** The record of a name, in the current state or in the snapshot with the epoch. The snapshot shows
 *  the current record if it was written up to that epoch, else the newest stored version that
 *  was. */
export function findNode(
  view: RecordView,
  key: NodeKey,
  epoch: number | undefined,
): Awaitable<NodeRecord | undefined> {
  const current = view.get(nodes, key);
  if (epoch === undefined) return current;
  return mapAwaitable(current, (node) =>
    node !== undefined && node.since <= epoch ? node : findVersion(view, key, epoch),
  );
}

async function findVersion(
  view: RecordView,
  { share, parent, folded }: NodeKey,
  epoch: number,
): Promise<NodeRecord | undefined> {
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

/** Finds the file or directory of a path, for REST and SMB: follows it from the root, one look-up
 *  for each component. */
export function resolvePath(
  view: RecordView,
  tree: ShareTree,
  components: readonly string[],
): Awaitable<ResolvedPath> {
  const key = rootKey(tree.share);
  return mapAwaitable(findNode(view, key, tree.epoch), (root) =>
    resolveBelow(view, tree, components, { parent: root, key, target: root, trail: [] }),
  );
}

/** Follows the components of a path that are below `at`. */
function resolveBelow(
  view: RecordView,
  tree: ShareTree,
  components: readonly string[],
  at: ResolvedPath,
): Awaitable<ResolvedPath> {
  const name = components[at.trail.length];
  if (name === undefined) return at;
  const { share, epoch } = tree;
  const parent = at.target?.kind === "directory" ? at.target : undefined;
  const key = { share, parent: parent?.id ?? rootId, folded: foldName(name) };
  if (parent === undefined) return { parent, key, target: undefined, trail: at.trail };
  const trail = [...at.trail, parent.id];
  return mapAwaitable(findNode(view, key, epoch), (found) => {
    if (found?.linkTo === undefined) {
      return resolveBelow(view, tree, components, { parent, key, target: found, trail });
    }
    const hardLink = { key, node: found };
    return mapAwaitable(loadLinkedFile(view, tree, found.linkTo), (linked) =>
      resolveBelow(view, tree, components, { parent, ...linked, trail, hardLink }),
    );
  });
}

/** Loads the file that a hard link refers to, by its id, from the share or from a snapshot of it.
 *  `target` is undefined if the file is not there. */
export function loadLinkedFile(
  view: RecordView,
  { share, epoch }: ShareTree,
  id: bigint,
): Awaitable<{ readonly key: NodeKey; readonly target: NodeRecord | undefined }> {
  return mapAwaitable(view.get(nodeLocations, { share, id }), (location) => {
    const key = { share, ...(location ?? rootKey(share)) };
    const found = location && findNode(view, key, epoch);
    return mapAwaitable(found, (target) => ({ key, target }));
  });
}

/** More levels than a path can have: ends the loop if damaged records form a cycle. */
const depthMax = 256;

/** The names from the root down to a file node in the current state; undefined if it is displaced
 *  (replaced by a rename while open). */
export async function pathOf(
  view: RecordView,
  share: bigint,
  node: NodeRecord,
): Promise<readonly string[] | undefined> {
  const names: string[] = [];
  let at: NodeRecord | undefined = node;
  for (let depth = 0; at.id !== rootId && depth < depthMax; depth += 1) {
    names.unshift(at.name);
    if (at.parent === rootId) break;
    at = await nodeById(view, share, at.parent);
    if (at === undefined) return undefined;
  }
  return names;
}

/** Reads the record of a file node by its id, which handles have; undefined if it was deleted. */
export function nodeById(
  view: RecordView,
  share: bigint,
  id: bigint,
): Awaitable<NodeRecord | undefined> {
  if (id === rootId) return view.get(nodes, rootKey(share));
  return mapAwaitable(
    view.get(nodeLocations, { share, id }),
    (found) => found && view.get(nodes, { share, parent: found.parent, folded: found.folded }),
  );
}

export function nodeKeyOf(share: bigint, { id, parent, name }: NodeRecord): NodeKey {
  if (id === rootId) return rootKey(share);
  // Displaced files (replaced while open) are keyed by id: several may have the same name.
  return { share, parent, folded: parent === displacedParent ? String(id) : foldName(name) };
}
