import type { RecordView } from "../../core/view.ts";
import type { Open } from "../locks/lock-state.ts";
import { locks, places, rootId } from "../records.ts";

/** Open files of one share that are looked through. */
const openFilesMax = 100_000;
/** A directory this deep cannot be named by any path. */
const depthMax = 256;

/** Handles on the first file or directory found open below a directory; none if nothing is. */
export async function opensBelow(
  view: RecordView,
  share: bigint,
  directory: bigint,
): Promise<readonly Open[]> {
  const elsewhere = new Set<bigint>([rootId]);
  const bounds = { ...locks.range([share]), limit: openFilesMax };
  for await (const batch of view.scan(locks, bounds)) {
    for (const { key, record } of batch) {
      const file = locks.parts(key)[1] as bigint;
      if (await isBelow(view, { share, file, directory }, elsewhere)) return record.opens;
    }
  }
  return none;
}

const none: readonly Open[] = [];

interface Descent {
  readonly share: bigint;
  readonly file: bigint;
  readonly directory: bigint;
}

/** `elsewhere` collects what is known not to lie below the directory, so that each is read once. */
async function isBelow(
  view: RecordView,
  { share, file, directory }: Descent,
  elsewhere: Set<bigint>,
): Promise<boolean> {
  const passed: bigint[] = [];
  let at = file;
  for (let depth = 0; !elsewhere.has(at) && depth < depthMax; depth += 1) {
    const place = await view.get(places, { share, id: at });
    if (place?.parent === directory) return true;
    passed.push(at);
    if (place === undefined) break;
    at = place.parent;
  }
  for (const id of passed) elsewhere.add(id);
  return false;
}
