import type { RecordView } from "../../operation/view.ts";
import type { LockState } from "../locks/lock-state.ts";
import { locks, nodeLocations, rootId } from "../records.ts";

/** Bound of the scan over the open files of a share. */
const openFilesMax = 100_000;
/** Deeper than any path can name. */
const depthMax = 256;

/** Bound of the result: a rename breaks the caching of so many files at once. */
const openBelowMax = 1000;

/** A file or directory that is open. */
export interface OpenedFile {
  readonly id: bigint;
  readonly state: LockState;
}

/** The open files below a directory. */
export async function openBelow(
  view: RecordView,
  share: bigint,
  directory: bigint,
): Promise<readonly OpenedFile[]> {
  const found: OpenedFile[] = [];
  const elsewhere = new Set<bigint>([rootId]);
  const bounds = { ...locks.range([share]), limit: openFilesMax };
  for await (const batch of view.scan(locks, bounds)) {
    for (const { key, record: state } of batch) {
      const id = locks.parts(key)[1] as bigint;
      if (await isBelow(view, { share, file: id, directory }, elsewhere)) found.push({ id, state });
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

/** `elsewhere` collects ids that are known not to lie below the directory, so that each is read
 *  once. */
async function isBelow(
  view: RecordView,
  { share, file, directory }: Descent,
  elsewhere: Set<bigint>,
): Promise<boolean> {
  const passed: bigint[] = [];
  let at = file;
  for (let depth = 0; !elsewhere.has(at) && depth < depthMax; depth += 1) {
    const place = await view.get(nodeLocations, { share, id: at });
    if (place?.parent === directory) return true;
    passed.push(at);
    if (place === undefined) break;
    at = place.parent;
  }
  for (const id of passed) elsewhere.add(id);
  return false;
}
