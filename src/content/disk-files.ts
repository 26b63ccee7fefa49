import { close, fdatasync, fstatSync, ftruncateSync, open, read, write } from "node:fs";
import { open as openFolder, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Log } from "../base/world.ts";
import { makePrivateFolder } from "../store/private-folder.ts";
import { canSyncFolders } from "../store/sync-folder.ts";
import { StoreUnavailable } from "../store/store.ts";
import { ExtentTooShort, type ExtentFile, type ExtentFiles } from "./extent-files.ts";

const openDescriptor = promisify(open);
const closeDescriptor = promisify(close);
const syncDescriptor = promisify(fdatasync);

/** Length at which the next extent is started. */
const extentBytes = 256 * 1024 * 1024;

/** Extents as files of one folder, which is created if missing. */
export async function openDiskFiles(folder: string, log?: Log): Promise<ExtentFiles> {
  makePrivateFolder(folder, log);
  await syncFolder(dirname(folder));
  const pathOf = (extent: bigint): string =>
    join(folder, `${extent.toString(16).padStart(16, "0")}.extent`);
  return {
    extentBytes,
    async create(extent) {
      const descriptor = await openDescriptor(pathOf(extent), "wx", 0o600).catch(expectFolder);
      await syncFolder(folder);
      return diskFile(descriptor);
    },
    open: async (extent) => diskFile(await openDescriptor(pathOf(extent), "r")),
    async remove(extent) {
      await rm(pathOf(extent), { force: true });
      await syncFolder(folder);
    },
    size: (extent) => sizeOf(pathOf(extent)),
  };
}

/** Flushes the entries of a folder. Without this, a loss of power may undo the creation or removal
 *  of a file that the store has recorded. */
async function syncFolder(folder: string): Promise<void> {
  if (!canSyncFolders()) return;
  const handle = await openFolder(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function expectFolder(error: unknown): never {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  throw new StoreUnavailable("the folder of extents was deleted", { cause: error });
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
}

/** Throws if the file was deleted while it is open: its bytes, even flushed ones, are lost when it
 *  is closed. */
function expectLinked(descriptor: number): void {
  if (fstatSync(descriptor).nlink > 0) return;
  throw new StoreUnavailable("an extent was deleted while it was written");
}

function diskFile(descriptor: number): ExtentFile {
  return {
    async write(bytes, position) {
      for (let done = 0; done < bytes.length;) {
        done += await writeSome(descriptor, bytes.subarray(done), position + done);
      }
    },
    async read(bytes, position) {
      for (let done = 0; done < bytes.length;) {
        const count = await readSome(descriptor, bytes.subarray(done), position + done);
        if (count === 0) throw new ExtentTooShort(`extent ends before offset ${position + done}`);
        done += count;
      }
    },
    async sync() {
      await syncDescriptor(descriptor);
      expectLinked(descriptor);
    },
    shorten: (bytes) => ftruncateSync(descriptor, bytes),
    close: () => closeDescriptor(descriptor),
  };
}

/** Uses the callback API: for small writes, the overhead of `FileHandle.write` exceeds the cost of
 *  the system call. */
function writeSome(descriptor: number, bytes: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, position, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}

function readSome(descriptor: number, bytes: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, bytes, 0, bytes.length, position, (error, count) =>
      error === null ? resolve(count) : reject(error),
    );
  });
}
