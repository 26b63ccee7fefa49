import { createReadStream, createWriteStream, existsSync, realpathSync } from "node:fs";
import { chmod, copyFile, link, mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { namesIn } from "../process/folder-listing.ts";
import {
  extentsPath,
  formatPath,
  openFolder,
  storePath,
  type FolderOptions,
} from "./folder-check/open-folder.ts";
import { canSyncFolders } from "../store/folders.ts";
import { makeFolder } from "../host/files.ts";
import { StartRefused, systemErrorCode } from "../host/refused.ts";
import { listExtents, type ExtentState } from "../content/extents/extent-table.ts";
import { LmdbEngine } from "../store/lmdb/lmdb-engine.ts";
import { SnapshotView } from "../store/layered-scan.ts";
import { noProgress, type Progress } from "./progress.ts";

/** Carries out `etagere backup`: copies a data folder while servers use it. */

/** The folder to back up, and where to. */
interface BackupOptions extends FolderOptions {
  /** The target folder. Must not exist or be empty. */
  readonly to: string;
  /** An earlier backup. Extents that have not changed since are linked to its files instead of
   *  being copied. Both backups stay complete, also if one of them is deleted. */
  readonly base?: string | undefined;
  readonly progress?: Progress | undefined;
}

interface BackupReport {
  readonly extents: number;
  /** Number of copied bytes of records and extents. */
  readonly bytes: number;
  /** Extents that are linked to files of the base. */
  readonly linkedExtents: number;
}

/** Copies one consistent state of a data folder while servers use it: first all records of one
 *  snapshot, then every extent they refer to. Extents are append-only, and none is deleted while
 *  this process is registered as a user of the folder, so the copy contains every referenced byte.
 *  The target gets its final name after everything is flushed. */
export async function backupFolder(options: BackupOptions): Promise<BackupReport> {
  const { location, to, base, progress = noProgress } = options;
  checkTarget(to, location);
  const known = base === undefined ? undefined : await openBase(base, location);
  const draft = `${to}.incomplete`;
  const folder = await openFolder(options);
  try {
    await rm(draft, { recursive: true, force: true });
    await makeFolder(join(draft, "store"));
    await mkdir(extentsPath(draft), 0o700);
    // The library writes the file without reporting how far it is.
    progress.begin({ what: "copying records", total: {} });
    await folder.engine.copyTo(storePath(draft));
    const recordBytes = (await stat(storePath(draft))).size;
    progress.add({ items: folder.engine.entryCount, bytes: recordBytes });
    await chmod(storePath(draft), 0o600);
    if (existsSync(formatPath(location))) await copyFile(formatPath(location), formatPath(draft));
    const extents = await extentsIn(storePath(draft));
    const changed: ExtentSize[] = [];
    for (const state of extents) {
      const isLinked = await known?.link(state, { from: location, to: draft });
      if (isLinked !== true) changed.push(await sizeOf(location, state.extent));
    }
    const bytes = await copyExtents(location, draft, changed, progress);
    progress.begin({ what: "flushing", itemName: "files", total: {} });
    await syncAll(draft, progress);
    await rename(draft, to);
    await sync(dirname(to));
    const linkedExtents = extents.length - changed.length;
    return { extents: extents.length, bytes: recordBytes + bytes, linkedExtents };
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  } finally {
    await folder.close();
  }
}

function checkTarget(to: string, location: string): void {
  const isTaken = existsSync(to) && namesIn(to).length > 0;
  if (isTaken) throw new StartRefused([`${to}: not empty; choose a new or empty folder`]);
  // A copy in the folder would be lost together with it.
  const [first = ""] = relative(realPathOf(location), realPathOf(to)).split(sep);
  if (first === ".." || isAbsolute(first)) return;
  throw new StartRefused([`${to}: inside the data folder; choose a folder elsewhere`]);
}

/** The path without links, also of a folder that does not exist yet. */
function realPathOf(path: string): string {
  if (existsSync(path) || dirname(path) === path) return realpathSync(path);
  return join(realPathOf(dirname(path)), basename(path));
}

interface ExtentSize {
  readonly extent: bigint;
  readonly bytes: number;
}

async function sizeOf(folder: string, extent: bigint): Promise<ExtentSize> {
  const found = await stat(extentPath(folder, extent)).catch(() => undefined);
  return { extent, bytes: found?.size ?? 0 };
}

/** Copies extents. Returns the number of copied bytes, which may exceed the sum of `extents`,
 *  because files may grow while they are copied. */
async function copyExtents(
  from: string,
  to: string,
  extents: readonly ExtentSize[],
  progress: Progress,
): Promise<number> {
  const total = extents.reduce((sum, each) => sum + each.bytes, 0);
  progress.begin({ what: "copying contents", total: { bytes: total } });
  let copied = 0;
  for (const { extent } of extents) copied += await copyExtent({ from, to, extent, progress });
  return copied;
}

interface ExtentCopy {
  readonly from: string;
  readonly to: string;
  readonly extent: bigint;
  readonly progress: Progress;
}

/** Copies an extent and returns its length; 0 for one that was never written and has no file. The
 *  copy has the date of the file, by which a later backup recognises it. */
async function copyExtent({ from, to, extent, progress }: ExtentCopy): Promise<number> {
  const path = extentPath(from, extent);
  const target = extentPath(to, extent);
  try {
    const { atime, mtime } = await stat(path);
    const source = createReadStream(path);
    source.on("data", (chunk) => progress.add({ bytes: chunk.length }));
    await pipeline(source, createWriteStream(target, { flags: "wx", mode: 0o600 }));
    await utimes(target, atime, mtime);
    return source.bytesRead;
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw error;
    await rm(target, { force: true });
    return 0;
  }
}

async function syncAll(folder: string, progress: Progress): Promise<void> {
  for (const name of namesIn(folder, { isDeep: true })) {
    await sync(join(folder, name));
    progress.add({ items: 1 });
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

/** An earlier backup whose files a new one links to. */
interface BackupBase {
  /** Links the file of an extent in the new backup. Returns false if the extent has changed since,
   *  or if the file system cannot link; then it must be copied. */
  link(state: ExtentState, folders: { from: string; to: string }): Promise<boolean>;
}

/** Codes of errors: a file system without links, or folders in different file systems. */
const noLinkCodes: ReadonlySet<unknown> = new Set(["EXDEV", "EPERM", "ENOTSUP", "EMLINK"]);

/** Largest difference between the dates of a file and its copy, which has whole milliseconds. */
const dateMillisecondsMax = 1;

function extentPath(folder: string, extent: bigint): string {
  return join(extentsPath(folder), `${extent.toString(16).padStart(16, "0")}.extent`);
}

/** Reads the extents of an earlier backup. Throws if it is no backup or a server uses it. */
export async function openBase(base: string, location: string): Promise<BackupBase> {
  if (!existsSync(storePath(base))) throw new StartRefused([`${base}: not a backup`]);
  if (resolve(base) === resolve(location) || isInUse(base)) {
    throw new StartRefused([`${base}: in use by a server; the base must be an earlier backup`]);
  }
  const extents = await extentsIn(storePath(base));
  const known = new Map(extents.map((state) => [state.extent, state.record]));
  return {
    async link({ extent, record }, { from, to }) {
      const before = known.get(extent);
      // A sealed extent never changes. Its writer distinguishes it from an extent with the same
      // number in a folder that has another history, for example after a restore.
      const isSame =
        before?.sealedBytes !== undefined &&
        before.sealedBytes === record.sealedBytes &&
        before.writer === record.writer;
      if (!isSame || !(await areSameFiles(extentPath(base, extent), extentPath(from, extent)))) {
        return false;
      }
      return linkFile(extentPath(base, extent), extentPath(to, extent));
    },
  };
}

/** Whether a process uses a folder: each has a marker file in it. */
function isInUse(base: string): boolean {
  const folder = join(base, "store", "open");
  return existsSync(folder) && namesIn(folder).length > 0;
}

/** Whether two files have the same length and date, so that their bytes need not be compared. */
async function areSameFiles(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((path) => stat(path).catch(() => undefined)),
  );
  if (first === undefined || second === undefined || first.size !== second.size) return false;
  return Math.abs(first.mtimeMs - second.mtimeMs) <= dateMillisecondsMax;
}

async function linkFile(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (noLinkCodes.has(systemErrorCode(error))) return false;
    throw error;
  }
}

const extentsPerPageMax = 256;

/** The extents that the records in an LMDB file refer to. No server may use the file. */
export async function extentsIn(path: string): Promise<readonly ExtentState[]> {
  const hasLock = existsSync(`${path}-lock`);
  const engine = new LmdbEngine({ path, noSync: false, readOnly: true });
  const state = engine.open();
  try {
    const view = new SnapshotView(state, state.ticks);
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
