import {
  close,
  constants,
  existsSync,
  fdatasync,
  fstatSync,
  ftruncateSync,
  open,
  read,
  renameSync,
  rmSync,
  write,
  writeFileSync,
} from "node:fs";
import { open as openFolder, rename, rm, stat, statfs, truncate } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Log } from "../../base/world.ts";
import { makePrivateFolder, canSyncFolders } from "../../store/folders.ts";
import { StoreUnavailable } from "../../store/store.ts";
import { blockBytes, isAligned } from "../../process/bytes.ts";
import {
  ExtentTooShort,
  type ExtentFile,
  type ExtentFiles,
  type SpareSpace,
} from "./extent-files.ts";

/** Extents (units in which many contents are stored) as files of a folder, with spare space for a
 *  full disk, and with writes past the system's cache for large bodies. `data/storage-backends.ts`
 *  opens it for stores whose content is neither in memory nor in S3. */

const openDescriptor = promisify(open);
const closeDescriptor = promisify(close);
const syncDescriptor = promisify(fdatasync);

/** Length at which the next extent is started: large, because a new file costs several flushes. */
const extentBytes = 256 * 1024 * 1024;
/** Bytes that are allocated in advance, so that compaction has space to copy live bytes to when the
 *  disk is full, and can then delete their extents. */
const spareBytes = 4 * 1024 * 1024;

/** Opens the folder of extents, which is created if missing. */
export async function openDiskFiles(folder: string, log?: Log): Promise<ExtentFiles> {
  makePrivateFolder(folder, log);
  await syncFolder(dirname(folder));
  const pathOf = (extent: bigint): string =>
    join(folder, `${extent.toString(16).padStart(16, "0")}.extent`);
  const spare = spareFile(folder);
  return {
    extentBytes,
    blockBytes,
    async create(extent, forAligned = false) {
      const path = pathOf(extent);
      const descriptor = await openDescriptor(path, "wx", 0o600).catch(expectFolder);
      spare.fill();
      await syncFolder(folder);
      return forAligned ? alignedFile(path, descriptor) : diskFile(descriptor);
    },
    open: async (extent) => diskFile(await openDescriptor(pathOf(extent), "r")),
    async remove(extent) {
      await rm(pathOf(extent), { force: true });
      await syncFolder(folder);
    },
    size: (extent) => sizeOf(pathOf(extent)),
    async truncate(extent, bytes) {
      if ((await sizeOf(pathOf(extent))) > bytes) await truncate(pathOf(extent), bytes);
    },
    spare: {
      ...spare,
      async use(extent) {
        const isThere = await renameIfExists(spare.path, pathOf(extent));
        if (!isThere) return undefined;
        await syncFolder(folder);
        return diskFile(await openDescriptor(pathOf(extent), "r+"));
      },
    },
  };
}

/** The spare space is the file `spare`, 4 MiB of zeros: its blocks are allocated, so it can be
 *  renamed to an extent and overwritten on a full disk. */
function spareFile(folder: string): Omit<SpareSpace, "use"> & { readonly path: string } {
  const path = join(folder, "spare");
  return {
    path,
    bytes: spareBytes,
    isAllocated: () => existsSync(path),
    async isDiskFull() {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize < spareBytes;
    },
    fill() {
      if (this.isAllocated()) return;
      const draft = `${path}.draft`;
      try {
        writeFileSync(draft, Buffer.alloc(spareBytes), { mode: 0o600 });
        renameSync(draft, path);
      } catch {
        // The disk is full, or the folder was deleted: bodies get an error of their own.
        rmSync(draft, { force: true });
      }
    },
  };
}

async function renameIfExists(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Flushes the entries of a folder. Otherwise a loss of power may undo the creation or removal of a
 *  file, although the store has a record of it. */
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

/** Throws if the file was deleted while it is open, by an operator for example: its bytes, even
 *  flushed ones, are lost when it is closed. */
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

/** An extent for large bodies, written past the system's cache (O_DIRECT): through the cache, each
 *  body would cost a copy, and more if the cache had to get memory first. All writes of the extent
 *  bypass it, because a concurrent cached write to a neighbouring range could leave old bytes in
 *  the cache. It is an ordinary file if the system has no such writes. */
async function alignedFile(path: string, cached: number): Promise<ExtentFile> {
  const flags = constants.O_WRONLY | (constants.O_DIRECT ?? 0);
  const direct = process.platform === "linux" ? await openIfSupported(path, flags) : undefined;
  if (direct === undefined) return diskFile(cached);
  await closeDescriptor(cached);
  return {
    ...diskFile(direct),
    async write(bytes, position) {
      if (!isAligned(bytes)) throw new Error("bytes for an aligned extent are not aligned");
      const length = Math.ceil(bytes.length / blockBytes) * blockBytes;
      const blocks = new Uint8Array(bytes.buffer, bytes.byteOffset, length);
      blocks.fill(0, bytes.length);
      for (let done = 0; done < length;) {
        const count = await writeSome(direct, blocks.subarray(done), position + done);
        if (count < blockBytes) throw Object.assign(new Error("disk full"), { code: "ENOSPC" });
        done += count - (count % blockBytes);
      }
    },
  };
}

async function openIfSupported(path: string, flags: number): Promise<number | undefined> {
  try {
    return await openDescriptor(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EINVAL") return undefined;
    throw error;
  }
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
