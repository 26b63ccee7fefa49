import type { RecordView } from "../../operation/view.ts";
import type { LockState, Open } from "../locks/lock-state.ts";
import { locks, rootId, type NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { nodeById, pathOf } from "../share-tree.ts";

/** A file or directory with at least one handle. */
export interface OpenedNode {
  readonly node: NodeRecord;
  readonly path: readonly string[];
  readonly state: LockState;
}

interface HandleScan {
  /** Whether to include the files below the target, if that is a directory. */
  readonly recursive: boolean;
  /** Id of the first file to examine; 0 for all. */
  readonly from: bigint;
  /** Which lock states to return; tested before the path is read. */
  readonly isWanted?: (state: LockState) => boolean;
}

/** Reading the node of an open file and the directories above it, in units of `spend`. */
const unitsPerFile = 4;

/** The target of the request if it is open and, on request, all open files below it, in the order
 *  of their ids. A caller that has enough ends the iteration, so that a page costs no more than the
 *  files up to its end. Other requests run meanwhile. A share snapshot has no handles. */
export async function* openedNodes(
  view: RecordView,
  scope: NodeScope,
  target: NodeRecord,
  { recursive, from, isWanted = () => true }: HandleScan,
): AsyncIterable<OpenedNode> {
  if (scope.snapshot !== undefined) return;
  if (!recursive || target.kind !== "directory") {
    const { locks: state, components: path } = scope;
    if (state !== undefined && isWanted(state)) yield { node: target, path, state };
    return;
  }
  const share = scope.share.id;
  const { end } = locks.range([share]);
  for await (const batch of view.scan(locks, { start: locks.key({ share, id: from }), end })) {
    for (const entry of batch) {
      const wait = view.loop.spend(unitsPerFile);
      if (wait !== undefined) await wait;
      const { record: state } = entry;
      if (!isWanted(state)) continue;
      const node = await nodeById(view, share, locks.parts(entry.key)[1] as bigint);
      if (node === undefined) continue;
      const path = await pathOf(view, share, node);
      // A displaced file has no path; its handles are shown for the root, so that they can be
      // closed.
      if (target.id === rootId) yield { node, path: path ?? [node.name], state };
      else if (path && isWithin(path, scope.components)) yield { node, path, state };
    }
  }
}

function isWithin(path: readonly string[], directory: readonly string[]): boolean {
  return directory.every((name, index) => path[index]?.toUpperCase() === name.toUpperCase());
}

/** One handle with its file. */
export interface ListedHandle {
  readonly opened: OpenedNode;
  readonly open: Open;
}

/** A position in a list of handles: the ids of a file and of one of its handles. */
export interface HandlePosition {
  readonly file: bigint;
  readonly handle: bigint;
}

/** The handles of the files from a position on, ordered by file and handle id; at most `limit`. */
export async function readHandles(
  nodes: AsyncIterable<OpenedNode>,
  { file, handle }: HandlePosition,
  limit: number,
): Promise<readonly ListedHandle[]> {
  const found: ListedHandle[] = [];
  for await (const opened of nodes) {
    const first = opened.node.id === file ? handle : 0n;
    const opens = opened.state.opens.filter(({ id }) => id >= first);
    for (const open of opens.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
      found.push({ opened, open });
      if (found.length >= limit) return found;
    }
  }
  return found;
}
