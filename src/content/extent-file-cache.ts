import type { ExtentFile, ExtentFiles } from "./extent-files.ts";

const handlesMax = 128;

interface Handle {
  readonly file: Promise<ExtentFile>;
  users: number;
  /** Closed as soon as nobody uses it, because its extent is gone. */
  dropped: boolean;
}

/** Extents open for reading: shared, and kept open while there are not too many. */
export class ExtentFileCache {
  readonly #files: ExtentFiles;
  /** In the order of last use. */
  readonly #handles = new Map<bigint, Handle>();

  constructor(files: ExtentFiles) {
    this.#files = files;
  }

  async read(extent: bigint, bytes: Uint8Array, position: number): Promise<void> {
    const handle = this.#handle(extent);
    handle.users += 1;
    try {
      await (await handle.file).read(bytes, position);
    } finally {
      handle.users -= 1;
      if (handle.dropped && handle.users === 0) await closeQuietly(handle);
    }
  }

  /** Before the extent's file is removed. */
  async drop(extent: bigint): Promise<void> {
    const handle = this.#handles.get(extent);
    if (handle === undefined) return;
    this.#handles.delete(extent);
    handle.dropped = true;
    if (handle.users === 0) await closeQuietly(handle);
  }

  /** The extents that are open here. */
  open(): readonly bigint[] {
    return [...this.#handles.keys()];
  }

  async close(): Promise<void> {
    for (const extent of this.open()) await this.drop(extent);
  }

  #handle(extent: bigint): Handle {
    const known = this.#handles.get(extent);
    const handle = known ?? { file: this.#files.open(extent), users: 0, dropped: false };
    this.#handles.delete(extent);
    this.#handles.set(extent, handle);
    if (known === undefined) {
      // A failed opening is not remembered: the next reader tries again, or already has.
      handle.file.catch(() => {
        if (this.#handles.get(extent) === handle) this.#handles.delete(extent);
      });
      this.#evict(handle);
    }
    return handle;
  }

  /** Never the one just opened, though nobody uses it yet. */
  #evict(newest: Handle): void {
    if (this.#handles.size <= handlesMax) return;
    for (const [extent, handle] of this.#handles) {
      if (handle.users > 0 || handle === newest) continue;
      this.#handles.delete(extent);
      void closeQuietly(handle);
      return;
    }
  }
}

async function closeQuietly(handle: Handle): Promise<void> {
  try {
    await (await handle.file).close();
  } catch {
    // It was open for reading only: nothing is lost, and nobody can do anything about it.
  }
}
