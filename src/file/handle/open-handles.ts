import type { RecordView } from "../../operation/view.ts";
import type { LockState, Open } from "../locks/lock-state.ts";
import { locks, type NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { nodeById, pathOf } from "../share-tree.ts";

/** One file or directory that somebody has open. */
export interface OpenedNode {
  readonly node: NodeRecord;
  readonly path: readonly string[];
  readonly state: LockState;
}

export interface HandleWish {
  /** Also what is open below a directory. */
  readonly recursive: boolean;
}

/** Open files of one share that are looked through. */
const openFilesMax = 100_000;

export async function openedNodes(
  view: RecordView,
  scope: NodeScope,
  target: NodeRecord,
  { recursive }: HandleWish,
): Promise<readonly OpenedNode[]> {
  if (scope.snapshot !== undefined) return [];
  if (!recursive || target.kind !== "directory") {
    const { locks: state, components: path } = scope;
    return state === undefined ? [] : [{ node: target, path, state }];
  }
  const found: OpenedNode[] = [];
  const share = scope.share.id;
  for await (const batch of view.scan(locks, { ...locks.range([share]), limit: openFilesMax })) {
    for (const { key, record: state } of batch) {
      const node = await nodeById(view, share, locks.parts(key)[1] as bigint);
      const path = node && (await pathOf(view, share, node.id));
      if (node === undefined || path === undefined) continue;
      if (isWithin(path, scope.components)) found.push({ node, path, state });
    }
  }
  return found;
}

function isWithin(path: readonly string[], directory: readonly string[]): boolean {
  return directory.every((name, index) => path[index]?.toUpperCase() === name.toUpperCase());
}

export interface ListedHandle {
  readonly opened: OpenedNode;
  readonly open: Open;
}

/** In the order of their ids, which are random: a page ends anywhere and goes on there. */
export function handlesOf(nodes: readonly OpenedNode[]): readonly ListedHandle[] {
  return nodes
    .flatMap((opened) => opened.state.opens.map((open) => ({ opened, open })))
    .toSorted((left, right) => (left.open.id < right.open.id ? -1 : 1));
}
