import type { RecordView } from "../../operation/view.ts";
import type { LockState } from "../locks/lock-state.ts";
import { locks, nodeLocations, rootId } from "../records.ts";

/** More levels than a path can have. Ends the loop if records form a cycle. */
const depthMax = 256;

/** At most this many open files are returned. A rename stores a changed lock state for each of them
 *  in one transaction. */
const openBelowMax = 1000;

/** A file or directory with at least one handle, and its lock state. */
export interface OpenedFile {
  readonly id: bigint;
  readonly state: LockState;
}

/** The open files and directories below a directory, at any depth. Examines every open file of the
 *  share, in steps between which other requests run. */
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

/** Follows the parents of a file up to the directory or the root. `notBelow` collects the
 *  directories that are known not to lie below the directory, so that each is read once. */
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
