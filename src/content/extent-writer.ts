import { StoreUnavailable, type Store } from "../store/store.ts";
import type { ExtentFile, ExtentFiles } from "./extent-files.ts";
import type { IdAllocator } from "./ids.ts";
import { RegionAllocator } from "./regions.ts";
import { Syncer } from "./syncer.ts";
import { extentCodec, extentKey } from "./tables.ts";
import { asUnavailable, isNoSpaceError } from "./unavailable.ts";

/** Reserved bytes of one extent. */
export interface Region {
  readonly extent: bigint;
  readonly offset: number;
  readonly length: number;
}

/** An extent that this process appends to, or has filled but not yet sealed. */
interface OpenExtent {
  readonly id: bigint;
  readonly file: ExtentFile;
  readonly regions: RegionAllocator;
  readonly syncer: Syncer;
  /** Bodies in this extent whose requests have not ended. The extent must not be sealed while there
   *  are any. */
  holds: number;
}

export interface ExtentWriterOptions {
  readonly store: Store;
  readonly files: ExtentFiles;
  readonly ids: IdAllocator;
  /** Id of this process in the records of its extents. */
  readonly writer: string;
  readonly extentBytes: number;
}

const internal = { mayUseReserve: true };
const noop = (): void => undefined;

/** Appends all bytes that this process stores. */
export class ExtentWriter {
  readonly #options: ExtentWriterOptions;
  readonly #open = new Map<bigint, OpenExtent>();
  /** Extents that have a record but no file yet; they must not be treated as abandoned. */
  readonly #creating = new Set<bigint>();
  #current: OpenExtent | undefined;
  /** FIFO queue of reservations that do not fit into the current extent, so that a long body does
   *  not starve. */
  #queue: Promise<void> = Promise.resolve();
  #queuedCount = 0;
  #isFull = false;

  constructor(options: ExtentWriterOptions) {
    this.#options = options;
  }

  /** Whether the last write failed because the disk was full. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Reserves a contiguous region of up to `length` bytes. It is shorter only if the length is so
   *  large that leaving the rest of the current extent empty would waste space. */
  async reserve(length: number): Promise<Region> {
    const region = this.#queuedCount === 0 ? this.#allocate(length) : undefined;
    if (region !== undefined) return region;
    this.#queuedCount += 1;
    const queued = this.#queue.then(() => this.#allocateOrRoll(length));
    this.#queue = queued.then(noop, noop);
    try {
      return await queued;
    } finally {
      this.#queuedCount -= 1;
    }
  }

  async write(region: Region, bytes: Uint8Array, at: number): Promise<void> {
    const extent = this.#extent(region.extent);
    try {
      await extent.file.write(bytes, region.offset + at);
      this.#isFull = false;
    } catch (error) {
      this.#isFull = isNoSpaceError(error);
      throw asUnavailable(error);
    }
  }

  async sync(extents: Iterable<bigint>): Promise<void> {
    try {
      for (const id of new Set(extents)) await this.#extent(id).syncer.sync();
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  /** Frees a region that no record refers to. Its space is reused if this is still the extent that
   *  is appended to and the storage permits it (`writesOnce`). */
  freeRegion({ extent: id, offset, length }: Region): void {
    const extent = this.#extent(id);
    const isFree = this.#options.files.writesOnce !== true && this.#current === extent;
    if (isFree) {
      extent.regions.free({ offset, length });
      // Truncates synchronously, because the next reservation may get this space.
      if (this.#isFull) extent.file.shorten?.(extent.regions.tail);
    }
    this.releaseHold(id);
  }

  /** Frees the unused end of a region. */
  shorten(region: Region, length: number): Region {
    const extent = this.#extent(region.extent);
    const rest = { offset: region.offset + length, length: region.length - length };
    if (this.#current === extent) extent.regions.free(rest);
    return { ...region, length };
  }

  /** Called when the request of a body in this extent has ended. */
  releaseHold(extent: bigint): void {
    const open = this.#open.get(extent);
    if (open !== undefined) open.holds -= 1;
  }

  owns(extent: bigint): boolean {
    return this.#open.has(extent) || this.#creating.has(extent);
  }

  /** Starts a new extent early if the current one is long and less than half live, or shorter and
   *  without live bytes: only sealed extents can be reclaimed. */
  retireIfSparse(extent: bigint, liveBytes: bigint): boolean {
    const current = this.#current;
    if (current?.id !== extent || current.holds > 0) return false;
    const { tail } = current.regions;
    const isLong = tail >= this.#options.extentBytes / (liveBytes === 0n ? 256 : 16);
    const isSparse = isLong && 2n * liveBytes < BigInt(tail);
    if (isSparse) this.#current = undefined;
    return isSparse;
  }

  /** Seals full extents without holds; with `all`, also the current one. */
  async seal({ all }: { all: boolean }): Promise<void> {
    if (all) this.#current = undefined;
    for (const extent of this.#open.values()) {
      if (extent === this.#current || extent.holds > 0) continue;
      await this.#sealOne(extent);
    }
  }

  /** Seals all extents. Those that cannot be sealed now are sealed by the next process, as after a
   *  crash. */
  async close(): Promise<void> {
    try {
      await this.seal({ all: true });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    for (const { file } of this.#open.values()) await file.close();
    this.#open.clear();
  }

  #allocate(length: number): Region | undefined {
    const current = this.#current;
    if (current === undefined || current.syncer.failed) return undefined;
    const { extentBytes } = this.#options;
    const { bytesAfterTail } = current.regions;
    const mayBeCut = length > extentBytes / 4 && bytesAfterTail >= extentBytes / 256;
    const allocated = mayBeCut ? Math.min(length, bytesAfterTail) : length;
    const range = current.regions.allocate(allocated);
    if (range === undefined) return undefined;
    current.holds += 1;
    return { extent: current.id, ...range };
  }

  async #allocateOrRoll(length: number): Promise<Region> {
    const region = this.#allocate(length);
    if (region !== undefined) return region;
    await this.#roll();
    const first = this.#allocate(length);
    if (first === undefined) throw new Error(`new extent has no room for ${length} bytes`);
    return first;
  }

  /** Starts a new extent. The record is written first: a file without a record would never be
   *  removed. */
  async #roll(): Promise<void> {
    const { store, files, ids, writer, extentBytes } = this.#options;
    const id = ids.next();
    this.#creating.add(id);
    try {
      const record = extentCodec.encode({ writer });
      await store.transact(async (tx) => tx.put(extentKey(id), record), internal);
      const file = await files.create(id);
      const syncer = new Syncer(() => file.sync());
      const regions = new RegionAllocator(extentBytes);
      this.#current = { id, file, regions, syncer, holds: 0 };
      this.#open.set(id, this.#current);
    } catch (error) {
      throw asUnavailable(error);
    } finally {
      this.#creating.delete(id);
    }
  }

  async #sealOne({ id, file, regions }: OpenExtent): Promise<void> {
    const { store, writer } = this.#options;
    const sealed = extentCodec.encode({ writer, sealedBytes: regions.tail });
    await store.transact(async (tx) => tx.put(extentKey(id), sealed), internal);
    this.#open.delete(id);
    await file.close();
  }

  #extent(id: bigint): OpenExtent {
    const extent = this.#open.get(id);
    if (extent === undefined) throw new Error(`extent ${id} is not open for writing`);
    return extent;
  }
}
