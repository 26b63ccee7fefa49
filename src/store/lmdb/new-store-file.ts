import { existsSync, linkSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "../sync-folder.ts";
import { LmdbEngine } from "./lmdb-engine.ts";

/**
 * A file that appears under its name when it is whole and on disk: the library writes the first
 * pages of a new one in place, and what a loss of power left of them could never be opened again.
 * Of several processes that come first at the same time one gives its file the name.
 */
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
