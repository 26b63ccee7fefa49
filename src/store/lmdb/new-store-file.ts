import { existsSync, linkSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "../sync-folder.ts";
import { LmdbEngine } from "./lmdb-engine.ts";

/** Creates a store file that appears under its name only when complete and flushed. The library
 *  writes the first pages of a new file in place; after a loss of power in between it could never
 *  be opened again. If several processes do this at once, the file of one of them gets the name. */
export async function ensureStoreFile(path: string): Promise<void> {
  if (existsSync(path)) return;
  const draft = `${path}.${process.pid}`;
  removeDraft(draft);
  const engine = new LmdbEngine({ path: draft, noSync: false });
  await engine.commit(({ sequence, ticks }) => ({
    sequence,
    ticks,
    writes: [],
    mayUseReserve: true,
  }));
  await engine.close();
  try {
    linkSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
  removeDraft(draft);
  syncFolder(dirname(path));
}

function removeDraft(draft: string): void {
  rmSync(draft, { force: true });
  rmSync(`${draft}-lock`, { force: true });
}
