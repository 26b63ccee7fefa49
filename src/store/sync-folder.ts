import { closeSync, fsyncSync, openSync } from "node:fs";

/** Without it a loss of power may undo the making of a file or folder in it, however often the file
 *  itself was flushed. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
