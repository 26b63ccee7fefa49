import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder } from "../store/sync-folder.ts";
import { systemErrorCode } from "./start-refused.ts";

/** For this user alone. Node's own recursive form never ends where a parent exists but takes no
 *  folders, as `/proc`. */
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

/** Whoever may write to a folder need not be allowed to read it, which syncing it takes. */
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
