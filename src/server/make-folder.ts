import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../store/sync-folder.ts";
import { systemErrorCode } from "./start-refused.ts";

/** Creates a folder and its parents, accessible to this user only. Node's recursive `mkdir` loops
 *  for ever if a parent such as `/proc` exists but accepts no folders. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, 0o700);
    syncIfAllowed(dirname(path));
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "EEXIST" && (await isFolder(path))) return;
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path || (await isFolder(parent))) throw error;
    await makeFolder(parent);
    await makeFolder(path);
  }
}

/** Flushes a folder if this process may read it: flushing needs read permission, creating a folder
 *  in it does not. */
function syncIfAllowed(folder: string): void {
  try {
    syncFolder(folder);
  } catch (error) {
    if (systemErrorCode(error) !== "EACCES") throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
