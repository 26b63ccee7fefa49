import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { listExtents, type ExtentState } from "../../content/extent-table.ts";
import { LmdbEngine } from "../../store/lmdb/lmdb-engine.ts";
import { snapshotView } from "../../store/snapshot-view.ts";

const extentsPerPageMax = 256;

/** All extents of the records in a file that no server uses. */
export async function extentsIn(path: string): Promise<readonly ExtentState[]> {
  const hasLock = existsSync(`${path}-lock`);
  const engine = new LmdbEngine({ path, noSync: false, readOnly: true });
  const state = engine.open();
  try {
    const view = snapshotView(state, state.ticks);
    const all: ExtentState[] = [];
    let page: readonly ExtentState[];
    do {
      page = await listExtents(view, all.at(-1)?.extent ?? 0n, extentsPerPageMax);
      all.push(...page);
    } while (page.length === extentsPerPageMax);
    return all;
  } finally {
    state.close();
    await engine.close();
    // Removes the lock file of LMDB, which readers create. It is created again when the copy is
    // opened.
    if (!hasLock) await rm(`${path}-lock`, { force: true });
  }
}
