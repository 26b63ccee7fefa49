import { createReadStream, createWriteStream, existsSync, readdirSync } from "node:fs";
import { chmod, copyFile, mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { extentsIn } from "./extents-in.ts";
import {
  extentsPath,
  formatPath,
  openFolder,
  storePath,
  type FolderOptions,
} from "../folder-check/open-folder.ts";
import { extentPath, openBase } from "./backup-base.ts";
import { canSyncFolders } from "../../store/sync-folder.ts";
import { makeFolder } from "../make-folder.ts";
import { StartRefused, systemErrorCode } from "../start-refused.ts";

export interface BackupOptions extends FolderOptions {
  /** Must not exist or be an empty folder. */
  readonly to: string;
  /** An earlier backup. Extents that have not changed since are linked to its files instead of
   *  being copied; both backups stay complete, also if the other one is deleted. */
  readonly base?: string | undefined;
}

export interface BackupReport {
  readonly extents: number;
  /** Copied bytes of records and extents. */
  readonly bytes: number;
  /** Extents that are linked to files of the base. */
  readonly linkedExtents: number;
}

/**
 * Copies one consistent state of a data folder while servers use it: first all records of one
 * snapshot, then every extent they refer to. Extents are append-only, and none is deleted while
 * this process is registered as a user of the folder, so the copy contains every referenced byte.
 * The target gets its final name after everything is flushed.
 */
export async function backupFolder(options: BackupOptions): Promise<BackupReport> {
  const { location, to, base } = options;
  checkTarget(to);
  const known = base === undefined ? undefined : await openBase(base, location);
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
    let linkedExtents = 0;
    for (const state of extents) {
      const isLinked = await known?.link(state, { from: location, to: draft });
      if (isLinked === true) linkedExtents += 1;
      else bytes += await copyExtent(location, draft, state.extent);
    }
    await syncAll(draft);
    await rename(draft, to);
    await sync(dirname(to));
    return { extents: extents.length, bytes, linkedExtents };
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

/** Copies an extent and returns its length; 0 for one that was never written and has no file. The
 *  copy has the date of the file, by which a later backup recognises it. */
async function copyExtent(from: string, to: string, extent: bigint): Promise<number> {
  const path = extentPath(from, extent);
  const target = extentPath(to, extent);
  try {
    const { atime, mtime } = await stat(path);
    const source = createReadStream(path);
    await pipeline(source, createWriteStream(target, { flags: "wx", mode: 0o600 }));
    await utimes(target, atime, mtime);
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
  const isFolder = (await stat(path)).isDirectory();
  if (isFolder && !canSyncFolders()) return;
  // Windows flushes only files that are open for writing.
  const handle = await open(path, isFolder ? "r" : "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
