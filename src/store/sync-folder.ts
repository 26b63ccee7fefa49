import { closeSync, fsyncSync, openSync } from "node:fs";

/** Flushes a folder. Without this a loss of power may undo the creation of a file in it, even if
 *  the file itself was flushed. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
