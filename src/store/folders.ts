import { chmodSync, mkdirSync, statSync, closeSync, fsyncSync, openSync } from "node:fs";
import type { Log } from "../base/world.ts";

/** Folders and the disk below them: private folders of the store, flushing, errors of a full disk.
 *  For the LMDB store, the files of extents and the other files of a server. */

const groupAndOthers = 0o077;

/** Codes of system calls that fail because the disk or the user's quota is full, or the file has
 *  reached the length limit of the process. */
const noSpaceCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** Whether a system call failed for lack of space: clients then get 503, and space is freed. */
export function isNoSpaceError(error: unknown): boolean {
  return error instanceof Error && "code" in error && noSpaceCodes.has(error.code);
}

/** Creates a folder with mode 700, or changes the mode of a folder that earlier releases created
 *  with access for other users. The modes of its files then do not matter. Only for folders that
 *  belong to the store as a whole, not for the location itself, which may be any folder. */
export function makePrivateFolder(path: string, log?: Log): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = statSync(path);
  if (process.platform === "win32" || (mode & groupAndOthers) === 0) return;
  try {
    chmodSync(path, 0o700);
    log?.info({ path }, "data folder closed to other users");
  } catch (error) {
    log?.warn({ err: error, path }, "data folder is open to other users; change its mode to 700");
  }
}

/** Whether folders can be flushed. On Windows they cannot be opened; there the file system records
 *  the creation of a file in its journal, and flushing the file flushes the journal. */
export function canSyncFolders(platform: NodeJS.Platform = process.platform): boolean {
  return platform !== "win32";
}

/** Flushes a folder. Without this a loss of power may undo the creation of a file in it, even if
 *  the file itself was flushed. */
export function syncFolder(path: string, platform?: NodeJS.Platform): void {
  if (!canSyncFolders(platform)) return;
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
