import { closeSync, fsyncSync, openSync } from "node:fs";

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
