import type { Span } from "../../base/span.ts";
import { isNoSpaceError } from "../../store/folders.ts";
import { StoreUnavailable, type Store } from "../../store/store.ts";
import type { ExtentFile, ExtentFiles } from "./extent-files.ts";
import type { IdAllocator } from "./ids.ts";
import { RegionAllocator, type Regions } from "./regions.ts";
import { extentCodec, extentKey } from "../tables.ts";

/** Appends bytes to extents: `content/body/receive.ts` those of bodies, compaction those that it
 *  moves. Each process has one `ExtentWriter`, made by `content/open-content.ts`, and writes only
 *  extents of its own, so that processes on one store need not coordinate. */

/** Groups the flushes (`fdatasync`) of one extent: one runs at a time, and all calls during it
 *  share the next one. After a failed flush the kernel may have dropped the unwritten pages and
 *  cleared the error, so all later flushes of the extent fail as well. */
export class Syncer {
  readonly #flush: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(flush: () => Promise<void>) {
    this.#flush = flush;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** Resolves when everything written before the call is flushed. */
  sync(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running.then(
      () => this.#startNext(),
      () => this.#startNext(),
    );
    return this.#next;
  }

  #startNext(): Promise<void> {
    this.#next = undefined;
    return this.#start();
  }

  #start(): Promise<void> {
    const running = this.#run().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #run(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      await this.#flush();
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }
}

/** Error codes of temporary conditions rather than bugs: the disk is full or failing, or the
 *  process is out of file handles. */
const transientCodes = new Set([
  "ENOSPC",
  "EDQUOT",
  "EFBIG",
  "EIO",
  "EROFS",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
]);

/** Converts an error of a temporary condition to `StoreUnavailable`, which clients get as 503, so
 *  that they retry; returns any other error unchanged. */
function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !transientCodes.has(code)) return error;
  return new StoreUnavailable(`writing content failed: ${error.message}`, { cause: error });
}

/** Bytes of one extent that are reserved for one body. */
export interface Region {
  readonly extent: bigint;
  readonly offset: number;
  readonly length: number;
}

/** `aligned` extents get large bodies, each from a whole block on, so that the writes bypass the
 *  system's cache (`disk-files.ts`). `packed` extents get all smaller bodies, without gaps. */
type ExtentKind = "packed" | "aligned";

/** Whether so much of an extent is dead that it is compacted: half of it, or 1/8 on a full disk. */
export function isSparse(
  { bytes, liveBytes }: { readonly bytes: number; readonly liveBytes: bigint },
  isDiskFull: boolean,
): boolean {
  return isDiskFull ? 8n * liveBytes < 7n * BigInt(bytes) : 2n * liveBytes < BigInt(bytes);
}

/** An extent that this process appends to, or has filled but not yet sealed. */
interface OpenExtent {
  readonly id: bigint;
  readonly file: ExtentFile;
  readonly regions: Regions;
  readonly syncer: Syncer;
  readonly kind: ExtentKind;
  /** How many bodies in this extent belong to requests that have not ended. While there are any,
   *  the extent must not be sealed: it has no references yet and would be deleted. */
  holds: number;
}

interface ExtentWriterOptions {
  readonly store: Store;
  readonly files: ExtentFiles;
  readonly ids: IdAllocator;
  /** Id of this process, which the records of its extents contain. */
  readonly writer: string;
  readonly extentBytes: number;
}

/** Options of the transactions here: records of extents may use the space of the store that is
 *  reserved for a full disk, because clients must still be able to delete. */
const internal = { mayUseReserve: true };
const noop = (): void => undefined;

/** Appends to extents, large files that many contents share, because a file for each body would
 *  cost several flushes. A full extent is sealed: its length is stored, nothing is appended any
 *  more, and compaction may reclaim it. */
export class ExtentWriter {
  readonly #options: ExtentWriterOptions;
  readonly #open = new Map<bigint, OpenExtent>();
  /** Extents that have a record but no file yet; `sealAbandoned` must skip them. */
  readonly #creating = new Set<bigint>();
  /** The extents to which new bodies are appended, at most one of each kind. */
  readonly #current: Partial<Record<ExtentKind, OpenExtent>> = {};
  /** Reservations that do not fit into the current extent, in their order: otherwise short bodies
   *  that still fit would overtake a long one forever. */
  #queue: Promise<void> = Promise.resolve();
  #queuedCount = 0;
  #isFull = false;

  constructor(options: ExtentWriterOptions) {
    this.#options = options;
  }

  /** Whether the last write failed because the disk was full. Freed space is then given back to the
   *  disk at once, and compaction copies only to the spare space. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** A region of up to this length must be written with one call of `write`, because an encrypted
   *  layout stores it as one chunk. Reserve more for bytes that arrive in several writes. */
  get wholeBytesMax(): number {
    return this.#options.files.layout?.wholeBytesMax ?? 0;
  }

  /** Reserves a contiguous region of `length` bytes; `aligned` is only for bytes in aligned
   *  buffers. The region is shorter if otherwise much of the current extent would remain empty. */
  async reserve(length: number, wanted: ExtentKind = "packed"): Promise<Region> {
    const { files, extentBytes } = this.#options;
    const hasAligned =
      files.blockBytes !== undefined && extentBytes >= (files.layout?.alignedExtentBytesMin ?? 0);
    const kind = hasAligned ? wanted : "packed";
    const region = this.#queuedCount === 0 ? this.#allocate(length, kind) : undefined;
    if (region !== undefined) return region;
    this.#queuedCount += 1;
    const queued = this.#queue.then(() => this.#allocateOrRoll(length, kind));
    this.#queue = queued.then(noop, noop);
    try {
      return await queued;
    } finally {
      this.#queuedCount -= 1;
    }
  }

  /** Creates a separate extent in the spare space, for compaction on a full disk. Returns a
   *  function that reserves regions in this extent; undefined if there is no spare space. */
  async createSpare(): Promise<((length: number) => Promise<Region>) | undefined> {
    const { files, ids } = this.#options;
    const { spare } = files;
    if (spare === undefined) return undefined;
    const id = ids.next();
    const file = await this.#create(id, () => spare.use(id));
    if (file === undefined) return undefined;
    const opened = this.#opened(id, file, "packed", new RegionAllocator(spare.bytes));
    return async (length) => {
      const range = opened.regions.allocate(length);
      if (range === undefined) throw new Error(`spare extent has no room for ${length} bytes`);
      opened.holds += 1;
      return { extent: id, ...range };
    };
  }

  async write(region: Region, bytes: Uint8Array, at: number, span?: Span): Promise<void> {
    const extent = this.#extent(region.extent);
    try {
      await extent.file.write(bytes, region.offset + at, span);
      this.#isFull = false;
    } catch (error) {
      this.#isFull = isNoSpaceError(error);
      throw asUnavailable(error);
    }
  }

  async sync(extents: Iterable<bigint>): Promise<void> {
    try {
      await Promise.all([...new Set(extents)].map((id) => this.#extent(id).syncer.sync()));
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  /** Frees a region that no record refers to, of a failed upload. Its space is reused if the extent
   *  is still appended to and the storage can replace bytes (`writesOnce`). */
  freeRegion({ extent: id, offset, length }: Region): void {
    const extent = this.#extent(id);
    const isFree = this.#options.files.writesOnce !== true && this.#isCurrent(extent);
    if (isFree) {
      extent.regions.free({ offset, length });
      // Gives the space back to the full disk. Synchronously: a later truncation could cut off the
      // bytes of the next reservation, which may get this space.
      if (this.#isFull) extent.file.shorten?.(extent.regions.tail);
    }
    this.releaseHold(id);
  }

  /** Frees the end of a region that its body, of unknown length, did not use. */
  shorten(region: Region, length: number): Region {
    const extent = this.#extent(region.extent);
    const rest = { offset: region.offset + length, length: region.length - length };
    if (this.#isCurrent(extent)) extent.regions.free(rest);
    return { ...region, length };
  }

  /** Called when the request of a body in this extent has ended: one less keeps it from being
   *  sealed. */
  releaseHold(extent: bigint): void {
    const open = this.#open.get(extent);
    if (open !== undefined) open.holds -= 1;
  }

  owns(extent: bigint): boolean {
    return this.#open.has(extent) || this.#creating.has(extent);
  }

  /** Stops appending to a sparse extent, because only sealed extents can be reclaimed. It must have
   *  1/16 of the full length; 1/256 is enough if nothing in it is live or the disk is full. Returns
   *  whether it did. */
  retireIfSparse(extent: bigint, liveBytes: bigint, isDiskFull: boolean): boolean {
    const current = this.#open.get(extent);
    if (current === undefined || !this.#isCurrent(current) || current.holds > 0) return false;
    const { tail } = current.regions;
    const share = isDiskFull || liveBytes === 0n ? 256 : 16;
    const isLong = tail >= this.#options.extentBytes / share;
    if (!isLong || !isSparse({ bytes: tail, liveBytes }, isDiskFull)) return false;
    delete this.#current[current.kind];
    return true;
  }

  /** Seals extents (stores their final length) to which nothing is appended and whose requests have
   *  all ended; with `all`, also the current ones. */
  async seal({ all }: { all: boolean }): Promise<void> {
    if (all) {
      delete this.#current.packed;
      delete this.#current.aligned;
    }
    for (const extent of this.#open.values()) {
      if (this.#isCurrent(extent) || extent.holds > 0) continue;
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

  #isCurrent(extent: OpenExtent): boolean {
    return this.#current[extent.kind] === extent;
  }

  #allocate(length: number, kind: ExtentKind): Region | undefined {
    const current = this.#current[kind];
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

  async #allocateOrRoll(length: number, kind: ExtentKind): Promise<Region> {
    const region = this.#allocate(length, kind);
    if (region !== undefined) return region;
    await this.#roll(kind);
    const first = this.#allocate(length, kind);
    if (first === undefined) throw new Error(`new extent has no room for ${length} bytes`);
    return first;
  }

  /** Starts a new extent. The record is written first: after a crash in between, a file without a
   *  record would never be removed. */
  async #roll(kind: ExtentKind): Promise<void> {
    const { files, ids, extentBytes } = this.#options;
    const id = ids.next();
    const isAligned = kind === "aligned";
    const file = await this.#create(id, () => files.create(id, isAligned));
    const regions =
      files.layout?.newRegions(extentBytes, isAligned) ??
      new RegionAllocator(extentBytes, isAligned ? files.blockBytes : 1);
    this.#current[kind] = this.#opened(id, file, kind, regions);
  }

  async #create<T>(id: bigint, create: () => Promise<T>): Promise<T> {
    const { store, writer } = this.#options;
    this.#creating.add(id);
    try {
      const record = extentCodec.encode({ writer });
      await store.transact(async (tx) => tx.put(extentKey(id), record), internal);
      return await create();
    } catch (error) {
      throw asUnavailable(error);
    } finally {
      this.#creating.delete(id);
    }
  }

  #opened(id: bigint, file: ExtentFile, kind: ExtentKind, regions: Regions): OpenExtent {
    const opened = { id, file, kind, regions, syncer: new Syncer(() => file.sync()), holds: 0 };
    this.#open.set(id, opened);
    return opened;
  }

  async #sealOne({ id, file, regions }: OpenExtent): Promise<void> {
    const { store, writer, files } = this.#options;
    // The file of an extent in spare space has 4 MiB from the start, and is cut to its content.
    if (files.spare !== undefined) file.shorten?.(regions.tail);
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
