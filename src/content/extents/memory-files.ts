import { ExtentTooShort, type ExtentFile, type ExtentFiles } from "./extent-files.ts";

/** Extents (units in which many contents are stored) in memory, up to a limit: for a server without
 *  a disk (`data/storage-backends.ts`) and for tests. */

const pageBytes = 64 * 1024;
const extentBytesMax = 16 * 1024 * 1024;
/** A memory budget (`bytesMax`) has space for at least this many extents, because only whole
 *  extents can be freed. */
const extentsPerBudget = 16;

/** Opens a storage without extents. Each extent consists of pages, allocated when they are written;
 *  all together take at most `bytesMax`. */
export function memoryFiles({ bytesMax }: { bytesMax: number }): ExtentFiles {
  const extents = new Map<bigint, MemoryExtent>();
  const budget = { bytesLeft: bytesMax };
  const share = Math.floor(bytesMax / extentsPerBudget);
  const extentBytes = Math.max(pageBytes, Math.min(extentBytesMax, share));
  const create = async (extent: bigint, bytesBeyond = 0): Promise<ExtentFile> => {
    const made = new MemoryExtent(budget, bytesBeyond);
    extents.set(extent, made);
    return made;
  };
  return {
    extentBytes,
    create: (extent) => create(extent),
    truncate: async (extent, bytes) => extents.get(extent)?.shorten(bytes),
    // Compaction may exceed the limit by one extent, because it needs space before it frees any.
    spare: {
      bytes: extentBytes,
      isAllocated: () => budget.bytesLeft >= 0,
      isDiskFull: async () => budget.bytesLeft < extentBytes,
      fill: () => {},
      use: async (extent) => (budget.bytesLeft < 0 ? undefined : create(extent, extentBytes)),
    },
    async open(extent) {
      const found = extents.get(extent);
      if (found === undefined) throw new Error(`extent ${extent} does not exist`);
      return found;
    },
    async remove(extent) {
      extents.get(extent)?.shorten(0);
      extents.delete(extent);
    },
    size: async (extent) => extents.get(extent)?.size ?? 0,
  };
}

class MemoryExtent implements ExtentFile {
  readonly #budget: { bytesLeft: number };
  /** How far this extent may exceed the memory budget, so that compaction works when it is used up;
   *  0 for all extents that compaction does not write. */
  readonly #bytesBeyond: number;
  #pages: (Uint8Array | undefined)[] = [];
  size = 0;

  constructor(budget: { bytesLeft: number }, bytesBeyond: number) {
    this.#budget = budget;
    this.#bytesBeyond = bytesBeyond;
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    for (const { page, offset, from, length } of pageSegments(bytes.length, position)) {
      this.#page(page).set(bytes.subarray(from, from + length), offset);
    }
    this.size = Math.max(this.size, position + bytes.length);
  }

  async read(bytes: Uint8Array, position: number): Promise<void> {
    if (position + bytes.length > this.size) {
      throw new ExtentTooShort(`extent ends before offset ${position + bytes.length}`);
    }
    for (const { page, offset, from, length } of pageSegments(bytes.length, position)) {
      const found = this.#pages[page];
      if (found === undefined) bytes.fill(0, from, from + length);
      else bytes.set(found.subarray(offset, offset + length), from);
    }
  }

  async sync(): Promise<void> {}

  async close(): Promise<void> {}

  shorten(bytes: number): void {
    if (bytes >= this.size) return;
    for (const page of this.#pages.splice(Math.ceil(bytes / pageBytes))) {
      if (page !== undefined) this.#budget.bytesLeft += pageBytes;
    }
    this.size = bytes;
  }

  #page(index: number): Uint8Array {
    const found = this.#pages[index];
    if (found !== undefined) return found;
    if (this.#budget.bytesLeft + this.#bytesBeyond < pageBytes) {
      throw Object.assign(new Error("the memory for content is used up"), { code: "ENOSPC" });
    }
    this.#budget.bytesLeft -= pageBytes;
    const page = new Uint8Array(pageBytes);
    this.#pages[index] = page;
    return page;
  }
}

/** The part of a range that is in one page; `from` is its offset in the range. */
interface PageSegment {
  readonly page: number;
  readonly offset: number;
  readonly from: number;
  readonly length: number;
}

function* pageSegments(total: number, position: number): Generator<PageSegment> {
  for (let from = 0; from < total;) {
    const page = Math.floor((position + from) / pageBytes);
    const offset = (position + from) % pageBytes;
    const length = Math.min(pageBytes - offset, total - from);
    yield { page, offset, from, length };
    from += length;
  }
}
