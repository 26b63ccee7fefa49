import { existsSync, readdirSync } from "node:fs";
import { link, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ExtentState } from "../../content/extent-table.ts";
import { extentsIn } from "./extents-in.ts";
import { extentsPath, storePath } from "../folder-check/open-folder.ts";
import { StartRefused, systemErrorCode } from "../start-refused.ts";

/** An earlier backup whose files a new one links to. */
export interface BackupBase {
  /** Links the file of an extent in the new backup. Returns false if the extent has changed since,
   *  or if the file system cannot link; then it must be copied. */
  link(state: ExtentState, folders: { from: string; to: string }): Promise<boolean>;
}

/** Errors of a file system that has no links, or of another file system. */
const noLinkCodes: ReadonlySet<unknown> = new Set(["EXDEV", "EPERM", "ENOTSUP", "EMLINK"]);

/** Difference of the dates of a file and its copy, which has whole milliseconds. */
const dateMillisecondsMax = 1;

export function extentPath(folder: string, extent: bigint): string {
  return join(extentsPath(folder), `${extent.toString(16).padStart(16, "0")}.extent`);
}

/** Reads the extents of an earlier backup. Throws if it is no backup or a server uses it. */
export async function openBase(base: string, location: string): Promise<BackupBase> {
  if (!existsSync(storePath(base))) throw new StartRefused([`${base}: not a backup`]);
  if (resolve(base) === resolve(location) || isInUse(base)) {
    throw new StartRefused([`${base}: in use by a server; the base must be an earlier backup`]);
  }
  const extents = await extentsIn(storePath(base));
  const known = new Map(extents.map((state) => [state.extent, state.record]));
  return {
    async link({ extent, record }, { from, to }) {
      const before = known.get(extent);
      // A sealed extent never changes. Its writer distinguishes it from an extent with the same
      // number in a folder that has another history, for example after a restore.
      const isSame =
        before?.sealedBytes !== undefined &&
        before.sealedBytes === record.sealedBytes &&
        before.writer === record.writer;
      if (!isSame || !(await areSameFiles(extentPath(base, extent), extentPath(from, extent)))) {
        return false;
      }
      return linkFile(extentPath(base, extent), extentPath(to, extent));
    },
  };
}

/** Every process that uses a folder has a marker file in it. */
function isInUse(base: string): boolean {
  const folder = join(base, "store", "open");
  return existsSync(folder) && readdirSync(folder).length > 0;
}

/** Whether two files have the same length and date. */
async function areSameFiles(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => stat(path).catch(() => undefined)),
  );
  if (first === undefined || second === undefined || first.size !== second.size) return false;
  return Math.abs(first.mtimeMs - second.mtimeMs) <= dateMillisecondsMax;
}

async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (noLinkCodes.has(systemErrorCode(error))) return false;
    throw error;
  }
}
