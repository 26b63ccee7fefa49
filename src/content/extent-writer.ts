import { StoreUnavailable, type Store } from "../store/store.ts";
import type { ExtentFile, ExtentFiles } from "./extent-files.ts";
import type { IdAllocator } from "./ids.ts";
import { RegionAllocator } from "./regions.ts";
import { Syncer } from "./syncer.ts";
import { extentCodec, extentKey } from "./tables.ts";
import { asUnavailable, isForSpace } from "./unavailable.ts";

/** Reserved bytes of one extent. */
export interface Region {
  readonly extent: bigint;
  readonly offset: number;
  readonly length: number;
}

/** An extent that this process still appends to, or has filled but not yet sealed. */
interface OpenExtent {
  readonly id: bigint;
  readonly file: ExtentFile;
  readonly regions: RegionAllocator;
  readonly syncer: Syncer;
  /** Bodies that lie here and are in the hands of a request: it must not be swept. */
  held: number;
}

export interface ExtentWriterOptions {
  readonly store: Store;
  readonly files: ExtentFiles;
  readonly ids: IdAllocator;
  /** Names this process in the records of its extents. */
  readonly writer: string;
  readonly extentBytes: number;
}

const internal = { mayUseReserve: true };
const noop = (): void => undefined;

/** The one place where this process appends bytes. */
export class ExtentWriter {
  readonly #options: ExtentWriterOptions;
  readonly #open = new Map<bigint, OpenExtent>();
  /** In the store already, but not yet open: reclaiming must not take it for one left behind. */
  readonly #making = new Set<bigint>();
  #current: OpenExtent | undefined;
  /** Who finds no room stands in line, so that no body waits for ever while others come. */
  #line: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isFull = false;

  constructor(options: ExtentWriterOptions) {
    this.#options = options;
  }

  /** The last write found no space. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** At most `length` bytes in one stretch, and all of them unless they are so many that leaving
   *  the rest of the current extent empty would be a waste. */
  async reserve(length: number): Promise<Region> {
    const region = this.#waiting === 0 ? this.#take(length) : undefined;
    if (region !== undefined) return region;
    this.#waiting += 1;
    const turn = this.#line.then(() => this.#takeOrRoll(length));
    this.#line = turn.then(noop, noop);
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  async write(region: Region, bytes: Uint8Array, at: number): Promise<void> {
    const extent = this.#extent(region.extent);
    try {
      await extent.file.write(bytes, region.offset + at);
      this.#isFull = false;
    } catch (error) {
      this.#isFull = isForSpace(error);
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

  /** Only for bytes that nobody was told of: they are written over. */
  freeRegion({ extent: id, offset, length }: Region): void {
    const extent = this.#extent(id);
    const isFree = this.#options.files.writesOnce !== true && this.#current === extent;
    if (isFree) {
      extent.regions.giveBack({ offset, length });
      // In the same step: whatever is handed out next may lie there.
      if (this.#isFull) extent.file.shorten?.(extent.regions.tail);
    }
    this.releaseHold(id);
  }

  /** The end of a reservation that is not needed any more. */
  shorten(region: Region, length: number): Region {
    const extent = this.#extent(region.extent);
    const rest = { offset: region.offset + length, length: region.length - length };
    if (this.#current === extent) extent.regions.giveBack(rest);
    return { ...region, length };
  }

  /** The request that held a body here is over. */
  releaseHold(extent: bigint): void {
    const open = this.#open.get(extent);
    if (open !== undefined) open.held -= 1;
  }

  owns(extent: bigint): boolean {
    return this.#open.has(extent) || this.#making.has(extent);
  }

  /** Begins a new extent early if the current one holds much and little of it is alive, or some and
   *  nothing is: only what is sealed can be swept. */
  retireIfSparse(extent: bigint, liveBytes: bigint): boolean {
    const current = this.#current;
    if (current?.id !== extent || current.held > 0) return false;
    const { tail } = current.regions;
    const isLong = tail >= this.#options.extentBytes / (liveBytes === 0n ? 256 : 16);
    const isSparse = isLong && 2n * liveBytes < BigInt(tail);
    if (isSparse) this.#current = undefined;
    return isSparse;
  }

  /** Seals what is full and in no request's hands; with `all`, the current one too. */
  async seal({ all }: { all: boolean }): Promise<void> {
    if (all) this.#current = undefined;
    for (const extent of this.#open.values()) {
      if (extent === this.#current || extent.held > 0) continue;
      await this.#sealOne(extent);
    }
  }

  /** What cannot be sealed now is sealed by the next process, as after a crash. */
  async close(): Promise<void> {
    try {
      await this.seal({ all: true });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
    for (const { file } of this.#open.values()) await file.close();
    this.#open.clear();
  }

  #take(length: number): Region | undefined {
    const current = this.#current;
    if (current === undefined || current.syncer.failed) return undefined;
    const { extentBytes } = this.#options;
    const { bytesLeft } = current.regions;
    const mayBeCut = length > extentBytes / 4 && bytesLeft >= extentBytes / 256;
    const wanted = mayBeCut ? Math.min(length, bytesLeft) : length;
    const stretch = current.regions.take(wanted);
    if (stretch === undefined) return undefined;
    current.held += 1;
    return { extent: current.id, ...stretch };
  }

  async #takeOrRoll(length: number): Promise<Region> {
    const region = this.#take(length);
    if (region !== undefined) return region;
    await this.#roll();
    const first = this.#take(length);
    if (first === undefined) throw new Error(`a new extent has no room for ${length} bytes`);
    return first;
  }

  /** The record comes first: a file without one would never be swept. */
  async #roll(): Promise<void> {
    const { store, files, ids, writer, extentBytes } = this.#options;
    const id = ids.next();
    this.#making.add(id);
    try {
      const record = extentCodec.encode({ writer });
      await store.transact(async (tx) => tx.put(extentKey(id), record), internal);
      const file = await files.create(id);
      const syncer = new Syncer(() => file.sync());
      const regions = new RegionAllocator(extentBytes);
      this.#current = { id, file, regions, syncer, held: 0 };
      this.#open.set(id, this.#current);
    } catch (error) {
      throw asUnavailable(error);
    } finally {
      this.#making.delete(id);
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
