import type { RecordView } from "../../operation/view.ts";
import type { LockState, Open } from "../locks/lock-state.ts";
import { locks, type NodeRecord } from "../records.ts";
import type { NodeScope } from "../resources.ts";
import { nodeById, pathOf } from "../share-tree.ts";

/** A file or directory with at least one handle. */
export interface OpenedNode {
  readonly node: NodeRecord;
  readonly path: readonly string[];
  readonly state: LockState;
}

export interface HandleScan {
  /** Whether to include the files below the target, if that is a directory. */
  readonly recursive: boolean;
}

/** At most this many open files of a share are examined. */
const openFilesMax = 100_000;

/** The target of the request if it is open and, on request, all open files below it. A share
 *  snapshot has no handles. */
export async function openedNodes(
  view: RecordView,
  scope: NodeScope,
  target: NodeRecord,
  { recursive }: HandleScan,
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

/** One handle with its file. */
export interface ListedHandle {
  readonly opened: OpenedNode;
  readonly open: Open;
}

/** The handles of the files, ordered by handle id, so that the marker of a page is the first id of
 *  the next page. */
export function handlesOf(nodes: readonly OpenedNode[]): readonly ListedHandle[] {
  return nodes
    .flatMap((opened) => opened.state.opens.map((open) => ({ opened, open })))
    .toSorted((left, right) => (left.open.id < right.open.id ? -1 : 1));
}
