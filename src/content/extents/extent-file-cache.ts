import type { ExtentFile, ExtentFiles, ReadOptions } from "./extent-files.ts";

/** Cache of extents that are open for reading, because opening a file for each read would cost more
 *  than a short read. Readers of content and compaction share one; each audit has its own. */

/** Bounds the file descriptors of a process, of which a system often permits only 1,024. */
const cachedFilesMax = 128;

interface CachedFile {
  readonly file: Promise<ExtentFile>;
  users: number;
  /** Whether the extent is being removed: its file is closed after its last read. */
  isRemoved: boolean;
}

/** Keeps up to 128 extents open, more only while all are being read. Evicts the one unused
 *  longest. */
export class ExtentFileCache {
  readonly #files: ExtentFiles;
  /** In order of last use: `#get` moves an extent to the end, `#evict` begins at the start. */
  readonly #cached = new Map<bigint, CachedFile>();

  constructor(files: ExtentFiles) {
    this.#files = files;
  }

  async read(
    extent: bigint,
    bytes: Uint8Array,
    position: number,
    options?: ReadOptions,
  ): Promise<void> {
    const cached = this.#get(extent);
    cached.users += 1;
    try {
      await (await cached.file).read(bytes, position, options);
    } finally {
      cached.users -= 1;
      if (cached.isRemoved && cached.users === 0) await closeQuietly(cached);
    }
  }

  /** Closes the extent; called before its file is removed. */
  async drop(extent: bigint): Promise<void> {
    const cached = this.#cached.get(extent);
    if (cached === undefined) return;
    this.#cached.delete(extent);
    cached.isRemoved = true;
    if (cached.users === 0) await closeQuietly(cached);
  }

  /** The open extents: `SpaceReclaimer` closes those that another process removed. */
  open(): readonly bigint[] {
    return [...this.#cached.keys()];
  }

  async close(): Promise<void> {
    for (const extent of this.open()) await this.drop(extent);
  }

  #get(extent: bigint): CachedFile {
    const existing = this.#cached.get(extent);
    const cached = existing ?? { file: this.#files.open(extent), users: 0, isRemoved: false };
    this.#cached.delete(extent);
    this.#cached.set(extent, cached);
    if (existing === undefined) {
      // Failures are not cached: the next reader tries again.
      cached.file.catch(() => {
        if (this.#cached.get(extent) === cached) this.#cached.delete(extent);
      });
      this.#evict(cached);
    }
    return cached;
  }

  /** Closes the least recently used file without users, but not the one just opened. */
  #evict(newest: CachedFile): void {
    if (this.#cached.size <= cachedFilesMax) return;
    for (const [extent, cached] of this.#cached) {
      if (cached.users > 0 || cached === newest) continue;
      this.#cached.delete(extent);
      void closeQuietly(cached);
      return;
    }
  }
}

async function closeQuietly(cached: CachedFile): Promise<void> {
  try {
    await (await cached.file).close();
  } catch {
    // Nothing is lost: the file was open for reading only.
  }
}
