import { compareKeys, encodeKey, successor } from "../../encoding/keys.ts";
import type { Table } from "../../encoding/table.ts";
import type { RecordView, Scanned } from "../../operation/view.ts";
import { nodes, versions, locks, nodeLocations, rootId, type NodeRecord } from "../records.ts";
import type { ShareTree } from "../share-tree.ts";
import type { LockState } from "../locks/lock-state.ts";

/** Reads the entries of a directory, in its current state or in a share snapshot, for listings over
 *  REST and SMB; and open files below a directory, for renames. */

/** The part of a directory to read. Names are compared in folded case (`foldName`). */
export interface ChildrenRequest {
  readonly directory: bigint;
  /** Case-folded beginning of the names; empty for all names. */
  readonly prefix: string;
  /** Case-folded name of the first entry to read; empty for the start. */
  readonly from: string;
  readonly limit: number;
}

export interface Child {
  readonly folded: string;
  readonly node: NodeRecord;
}

/** Reads entries of a directory, current or in a share snapshot, by case-folded name. */
export async function childrenOf(
  view: RecordView,
  tree: ShareTree,
  wanted: ChildrenRequest,
): Promise<readonly Child[]> {
  const { epoch } = tree;
  return epoch === undefined
    ? currentChildren(view, tree, wanted)
    : snapshotChildren(view, { ...tree, epoch }, wanted);
}

/** The key range of the requested entries in `nodes` or `versions`. The record of the root
 *  directory has the empty name in itself as parent, so the range starts after it. */
function boundsOf<K, R>(
  table: Table<K, R>,
  { share }: ShareTree,
  { directory, prefix, from }: ChildrenRequest,
) {
  const within = table.range([share, directory], prefix);
  const named = successor(table.prefix([share, directory, ""]));
  const first = from === "" ? named : table.prefix([share, directory, from]);
  const start = [within.start, named, first].reduce((left, right) =>
    compareKeys(left, right) < 0 ? right : left,
  );
  return { start, end: within.end };
}

/** The key range of the current entries, which `directory-page.ts` scans by itself. */
export function currentBounds(tree: ShareTree, wanted: ChildrenRequest) {
  return boundsOf(nodes, tree, wanted);
}

async function currentChildren(
  view: RecordView,
  tree: ShareTree,
  wanted: ChildrenRequest,
): Promise<readonly Child[]> {
  const found: Child[] = [];
  const bounds = { ...currentBounds(tree, wanted), limit: wanted.limit };
  for await (const batch of view.scan(nodes, bounds)) {
    for (const { key, record } of batch) {
      found.push({ folded: nodes.parts(key)[2] as string, node: record });
    }
  }
  return found;
}

/** The entries that a share snapshot shows: merges current records and stored versions by name.
 *  Records that were written after the snapshot are read and skipped, so a page costs more the more
 *  entries of the directory have changed since. */
async function snapshotChildren(
  view: RecordView,
  tree: ShareTree & { readonly epoch: number },
  wanted: ChildrenRequest,
): Promise<readonly Child[]> {
  const { epoch } = tree;
  const present = entriesOf(view, nodes, boundsOf(nodes, tree, wanted));
  const kept = entriesOf(view, versions, boundsOf(versions, tree, wanted));
  const found: Child[] = [];
  let [left, right] = [await present.next(), await kept.next()];
  while (found.length < wanted.limit && !(left.done === true && right.done === true)) {
    const useLeft =
      right.done === true || (left.done !== true && comesFirst(left.value[0], right.value[0]));
    const [folded, node] = (useLeft ? left.value : right.value) as Entry;
    const shown = useLeft
      ? node.since <= epoch
      : node.since <= epoch && (node as Kept).until >= epoch;
    if (shown) found.push({ folded, node });
    if (useLeft) left = await present.next();
    else right = await kept.next();
  }
  return found;
}

/** Compares names by their UTF-8 bytes, as the store orders keys. JavaScript compares UTF-16 code
 *  units, which gives another order beyond the basic multilingual plane. */
function comesFirst(left: string, right: string): boolean {
  return compareKeys(encodeKey([left]), encodeKey([right])) <= 0;
}

type Entry = readonly [folded: string, node: NodeRecord];
type Kept = NodeRecord & { readonly until: number };

async function* entriesOf<K, R extends NodeRecord>(
  view: RecordView,
  table: Table<K, R>,
  bounds: { readonly start: Uint8Array; readonly end: Uint8Array },
): AsyncGenerator<Entry, undefined> {
  for await (const batch of view.scan(table, bounds)) {
    for (const entry of batch) yield [nameOf(table, entry), entry.record];
  }
  return undefined;
}

function nameOf<K, R>(table: Table<K, R>, { key }: Scanned<R>): string {
  return table.parts(key)[2] as string;
}

/** More levels than a path can have: ends the loop if damaged records form a cycle. */
const depthMax = 256;

/** Limit of this server for the open files that `openBelow` returns. A rename stores a changed lock
 *  state for each of them in one transaction. Further open files may be missing: a rename fails
 *  because of one open file, or breaks the caching of these files and is decided again. */
const openBelowMax = 1000;

/** A file or directory with at least one handle, and its lock state. */
export interface OpenedFile {
  readonly id: bigint;
  readonly state: LockState;
}

/** The open files and directories below a directory, at any depth, which a rename of the directory
 *  must check. Examines every open file of the share, in steps between which other requests run. */
export async function openBelow(
  view: RecordView,
  share: bigint,
  directory: bigint,
): Promise<readonly OpenedFile[]> {
  const found: OpenedFile[] = [];
  const notBelow = new Set<bigint>([rootId]);
  for await (const batch of view.scan(locks, locks.range([share]))) {
    for (const entry of batch) {
      const id = locks.parts(entry.key)[1] as bigint;
      const wait = view.loop.spend(1);
      if (wait !== undefined) await wait;
      if (!(await isBelow(view, { share, file: id, directory }, notBelow))) continue;
      found.push({ id, state: entry.record });
      if (found.length >= openBelowMax) return found;
    }
  }
  return found;
}

interface Descent {
  readonly share: bigint;
  readonly file: bigint;
  readonly directory: bigint;
}

/** Whether a file is below the directory: follows its parents up to the directory or the root.
 *  `notBelow` collects directories that do not lie below it, so that each is read once. */
async function isBelow(
  view: RecordView,
  { share, file, directory }: Descent,
  notBelow: Set<bigint>,
): Promise<boolean> {
  const visited: bigint[] = [];
  let at = file;
  for (let depth = 0; !notBelow.has(at) && depth < depthMax; depth += 1) {
    const location = await view.get(nodeLocations, { share, id: at });
    if (location?.parent === directory) return true;
    if (depth > 0) visited.push(at);
    if (location === undefined) break;
    at = location.parent;
  }
  for (const id of visited) notBelow.add(id);
  return false;
}
