import { checkState } from "../../src/commands/folder-check/check-folder.ts";
import type { ExtentFiles } from "../../src/content/extents/extent-files.ts";
import { extentKey } from "../../src/content/tables.ts";
import { SnapshotView } from "../../src/store/layered-scan.ts";
import type { Random } from "../verify/random.ts";
import { count, type FaultCounts } from "./faults.ts";
import type { Site } from "./site.ts";

interface ReadRange {
  readonly extent: bigint;
  readonly position: number;
  readonly length: number;
}

/** Bits that are changed at the end of a run, each of them in another extent: a slice is read in
 *  several ranges, and the check counts damaged slices, not damaged ranges. */
const rottenMax = 8;

/** The problems that `etagere check` finds in what is stored. If there are none, bits of stored
 *  content are changed: a check that does not find each of them is a problem. Slices that were
 *  split since they were written have no checksum; then the changes that it cannot find are
 *  counted. */
export async function checkStored(
  site: Site,
  random: Random,
  counts: FaultCounts,
): Promise<readonly string[]> {
  const ranges: ReadRange[] = [];
  const { problems, bytesRead, bytesWithChecksum } = await check(site, (range) => {
    ranges.push(range);
  });
  if (problems.length > 0) return problems;
  const rotten: ReadRange[] = [];
  for (let left = rottenMax; left > 0 && ranges.length > 0; left -= 1) {
    const [{ extent, position, length }] = ranges.splice(random.below(ranges.length), 1) as [
      ReadRange,
    ];
    if (rotten.some((each) => each.extent === extent)) continue;
    const at = position + random.below(length);
    site.rot(extent, at, random.below(8));
    count(counts, "bit rot");
    rotten.push({ extent, position: at, length: 1 });
  }
  const found = (await check(site, () => {})).problems;
  const places = found.flatMap(placesIn);
  const missed = rotten
    .filter(({ extent, position }) => !places.some((place) => isIn(place, extent, position)))
    .map(({ extent, position }) => `a changed bit at ${position} of ${extent} was not found`)
    // Of the damaged slices of one blob it names the first one, and how many there are.
    .slice(found.reduce((sum, problem) => sum + unnamedIn(problem), 0));
  if (bytesWithChecksum === bytesRead) return missed;
  for (const _ of missed) count(counts, "bit rot of bytes without a checksum");
  return [];
}

/** Whether a stored extent has no record, for example because its upload came after its removal.
 *  The server looks for such extents once an hour. */
export async function hasExtentWithoutRecord(site: Site): Promise<boolean> {
  const { state, extents } = await site.stored();
  const view = new SnapshotView(state, state.ticks);
  for (const extent of extents) if ((await view.get(extentKey(extent))) === undefined) return true;
  return false;
}

async function check(site: Site, onRead: (range: ReadRange) => void) {
  const { state, files, extents } = await site.stored();
  return checkState(state, { files: reporting(files, onRead), filesBefore: new Set(extents) });
}

function reporting(files: ExtentFiles, onRead: (range: ReadRange) => void): ExtentFiles {
  return {
    ...files,
    async open(extent) {
      const file = await files.open(extent);
      return {
        ...file,
        read(bytes, position, options) {
          onRead({ extent, position, length: bytes.length });
          return file.read(bytes, position, options);
        },
      };
    },
  };
}

/** `20 bytes at 7 of extent 1f differ from their checksum` */
function placesIn(problem: string): readonly ReadRange[] {
  const found = /(\d+) bytes at (\d+) of extent ([0-9a-f]+)/.exec(problem);
  if (found === null) return [];
  const [, length = "", position = "", extent = ""] = found;
  const place = { length: Number(length), position: Number(position) };
  return [{ extent: BigInt(`0x${extent}`), ...place }];
}

function unnamedIn(problem: string): number {
  return Number(/\(and (\d+) slices more\)/.exec(problem)?.[1] ?? 0);
}

function isIn({ extent, position, length }: ReadRange, of: bigint, at: number): boolean {
  return extent === of && at >= position && at < position + length;
}
