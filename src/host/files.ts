import {
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from "node:fs/promises";
import { dirname, sep } from "node:path";
import { syncFolder } from "../store/folders.ts";
import { systemErrorCode } from "./refused.ts";
import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import type { Random } from "../base/world.ts";

/** Files and folders of this machine: creates folders, opens files that are not trusted, and
 *  replaces files atomically. */

/** Creates a folder and its parents, accessible to this user only. Unlike Node's recursive `mkdir`,
 *  it fails if a parent exists but accepts no folders (`/proc`), where `mkdir` would never end. */
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

/* Files that a user names, or that are in a folder which a user names. The folder is not
   trusted: a link in it could lead to any file of this machine, a FIFO would block its reader for
   ever, and a device has no end. */

/** Opens a file that may be a FIFO without waiting for a writer. Windows has no such flag. */
const openFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Opens a regular file of a folder. Rejects links that lead out of the folder. */
export async function openFileInside(folder: string, path: string): Promise<FileHandle> {
  if (!realpathSync(path).startsWith(withSeparator(realpathSync(folder)))) {
    throw new Error("it is a link to a file outside the folder");
  }
  const file = await open(path, openFlags);
  try {
    if (!(await file.stat()).isFile()) throw new Error(notRegular);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Reads a regular file of at most `bytesMax`; throws for other kinds of files, which could block
 *  or have no end. */
export function readRegularFile(path: string, bytesMax: number): Buffer {
  const descriptor = openSync(path, openFlags);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw new Error(notRegular);
    if (stats.size > bytesMax) throw new Error(`it is longer than ${bytesMax} bytes`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const notRegular = "it is not a regular file";

function withSeparator(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}

/** Reads the first bytes of a file, which may be a pipe: at most `bytesMax`. */
export async function readStart(path: string, bytesMax: number): Promise<Buffer> {
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytesMax), 0, bytesMax, null);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Reads the text of a file; undefined if there is no such file. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes a file that only this user can read, under a temporary name, and moves it to its path: a
 *  crash leaves the old file or the new one. */
export async function replaceFile(
  { random }: { readonly random: Random },
  path: string,
  text: string,
  move: (written: string, path: string) => Promise<void> = rename,
): Promise<void> {
  const written = `${path}.${Buffer.from(random.bytes(8)).toString("hex")}`;
  try {
    await writeFile(written, text, { mode: 0o600, flag: "wx", flush: true });
    await move(written, path);
  } finally {
    await rm(written, { force: true });
  }
}

/** Whether a file with a secret can be read by other users of the machine. A group may read a file
 *  of root: so an administrator gives a file to the user of a server. False for a file that cannot
 *  be examined, because reading it reports that, and on Windows, where modes say nothing. */
export async function isReadableByOthers(path: string): Promise<boolean> {
  if (process.platform === "win32") return false;
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) return false;
  const forbidden = found.uid === 0 && process.getuid?.() !== 0 ? 0o004 : 0o044;
  return (found.mode & forbidden) !== 0;
}
