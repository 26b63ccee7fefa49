import { createReadStream, createWriteStream, existsSync, readdirSync } from "node:fs";
import { chmod, copyFile, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { listExtents, type ExtentState } from "../content/extent-table.ts";
import { LmdbEngine } from "../store/lmdb/lmdb-engine.ts";
import { snapshotView } from "../store/snapshot-view.ts";
import {
  extentsPath,
  formatPath,
  openFolder,
  storePath,
  type FolderOptions,
} from "./folder-check/open-folder.ts";
import { makeFolder } from "./make-folder.ts";
import { StartRefused, systemErrorCode } from "./start-refused.ts";

export interface BackupOptions extends FolderOptions {
  /** Must not exist or be an empty folder. */
  readonly to: string;
}

export interface BackupReport {
  readonly extents: number;
  readonly bytes: number;
}

const extentsPerPageMax = 256;

/**
 * Copies one consistent state of a data folder while servers use it: first all records of one
 * snapshot, then every extent they refer to. Extents are append-only, and none is deleted while
 * this process is registered as a user of the folder, so the copy contains every referenced byte.
 * The target gets its final name after everything is flushed.
 */
export async function backupFolder(options: BackupOptions): Promise<BackupReport> {
  const { location, to } = options;
  checkTarget(to);
  const draft = `${to}.incomplete`;
  const folder = await openFolder(options);
  try {
    await rm(draft, { recursive: true, force: true });
    await makeFolder(join(draft, "store"));
    await mkdir(extentsPath(draft), 0o700);
    await folder.engine.copyTo(storePath(draft));
    await chmod(storePath(draft), 0o600);
    if (existsSync(formatPath(location))) await copyFile(formatPath(location), formatPath(draft));
    const extents = await extentsIn(storePath(draft));
    let bytes = (await stat(storePath(draft))).size;
    for (const { extent } of extents) bytes += await copyExtent(location, draft, extent);
    await syncAll(draft);
    await rename(draft, to);
    await sync(dirname(to));
    return { extents: extents.length, bytes };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  } finally {
    await folder.close();
  }
}

function checkTarget(to: string): void {
  const isTaken = existsSync(to) && readdirSync(to).length > 0;
  if (isTaken) throw new StartRefused([`${to}: not empty; choose a new or empty folder`]);
}

async function extentsIn(path: string): Promise<readonly ExtentState[]> {
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
    await rm(`${path}-lock`, { force: true });
  }
}

/** Copies an extent and returns its length; 0 for one that was never written and has no file. */
async function copyExtent(from: string, to: string, extent: bigint): Promise<number> {
  const name = `${extent.toString(16).padStart(16, "0")}.extent`;
  const target = join(extentsPath(to), name);
  try {
    const source = createReadStream(join(extentsPath(from), name));
    await pipeline(source, createWriteStream(target, { flags: "wx", mode: 0o600 }));
    return source.bytesRead;
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    await rm(target, { force: true });
    return 0;
  }
}

async function syncAll(folder: string): Promise<void> {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    await sync(join(folder, name));
  }
  await sync(folder);
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
