import type { Span } from "../../base/span.ts";
import type { ExtentRange, Regions } from "./regions.ts";

/** Storage for extents, the append-only units in which the bytes of many contents are stored: a
 *  folder (`disk-files.ts`), memory (`memory-files.ts`) or a bucket
 *  (`content/s3/open-s3-files.ts`). The rest of `content/` depends only on this interface, and
 *  recognizes a full disk by the code of its errors (`ENOSPC`). */
export interface ExtentFiles {
  /** Length of an extent; longer content continues in the next one. */
  readonly extentBytes: number;
  /** Whether bytes cannot be overwritten, as in S3: then the space of failed uploads is not
   *  reused. */
  readonly writesOnce?: boolean;
  /** Size of the blocks of aligned extents, which take large bodies past the system's cache; absent
   *  if the storage has none. */
  readonly blockBytes?: number;
  /** How the offsets in slices (references of records to ranges of extents) relate to positions in
   *  the extent; absent if they are the same. Encrypted extents have a layout, because each chunk
   *  is stored with its nonce and tag. */
  readonly layout?: ExtentLayout;
  /** Whole bodies up to this length are stored in the record, because storing them here costs more;
   *  absent if the caller's limit applies. */
  readonly inlineBytesMax?: number;
  /** Creates an empty extent; `isAligned` for large bodies, written in whole blocks. Resolves when
   *  its creation is durable. */
  create(extent: bigint, isAligned?: boolean): Promise<ExtentFile>;
  open(extent: bigint): Promise<ExtentFile>;
  /** Removes an extent. Does nothing if it does not exist, as after a crash during a removal. */
  remove(extent: bigint): Promise<void>;
  /** Length of the stored bytes; 0 if the extent does not exist. */
  size(extent: bigint): Promise<number>;
  /** Stored ranges of an extent, in order, if a failed upload can leave gaps in it (S3), so that a
   *  copy skips them; absent if it cannot. */
  ranges?(extent: bigint): Promise<readonly ExtentRange[]>;
  /** Rejects if the storage is unreachable, for the health check; absent for local storage. */
  check?(): Promise<void>;
  /** Lists some of the extents after `after`, in order; none if there are no more. For the search
   *  for extents without a record, which only storage shared by several nodes can leave. */
  list?(after: bigint): Promise<readonly bigint[]>;
  /** Truncates an extent that gets no more bytes, to free those that nothing refers to at its end.
   *  Does nothing if it is shorter or does not exist. Absent if the storage cannot do it. */
  truncate?(extent: bigint, bytes: number): Promise<void>;
  /** Space in which compaction can begin on a full disk; absent if the disk cannot be full. */
  readonly spare?: SpareSpace;
  /** Marks the storage as that of the store with this id; rejects if it belongs to another store,
   *  whose extents have the same names. */
  claim?(storeId: string): Promise<void>;
}

/** The layout of encrypted extents, in which bytes take more space than their number. An offset is
 *  no position in the file, but bytes of a region (reserved space) have consecutive ones. */
export interface ExtentLayout {
  /** Longest region that is stored as one encrypted chunk, so that it must be written at once. A
   *  region for bytes that arrive in several writes must be longer. */
  readonly wholeBytesMax: number;
  /** Least length of extents for aligned writes: shorter ones would not take a few buffers. */
  readonly alignedExtentBytesMin: number;
  /** The regions of a new extent, which may take this space. In an extent for aligned writes all
   *  writes of a region but the last have the length of a buffer (`process/bytes.ts`). */
  newRegions(capacity: number, isAligned: boolean): Regions;
  /** The position after the space that bytes of one region take. */
  storedEnd(offset: number, length: number): number;
}

/** The position in the file after a range of a slice; an extent that ends before has lost bytes. */
export function storedEndOf(
  { layout }: Pick<ExtentFiles, "layout">,
  offset: number,
  length: number,
): number {
  return layout === undefined ? offset + length : layout.storedEnd(offset, length);
}

/** Space that is allocated before the disk is full, for an extent that compaction writes then. */
export interface SpareSpace {
  readonly bytes: number;
  /** Whether the space is allocated. */
  isAllocated(): boolean;
  /** Whether so little space is free that bodies are, or soon will be, rejected. */
  isDiskFull(): Promise<boolean>;
  /** Allocates the spare space unless it is there; synchronous, so that no body gets space that was
   *  just freed for it. Does nothing if the disk is full. */
  fill(): void;
  /** Creates an extent of `bytes` zeros from the space; undefined if it is not allocated. */
  use(extent: bigint): Promise<ExtentFile | undefined>;
}

/** Options of a read from an extent. */
export interface ReadOptions {
  /** The span of a traced request, to which requests to S3 are added. */
  readonly span?: Span | undefined;
  /** Undefined reads what is stored, as audits and compaction need it. */
  readonly cacheUse?: CacheUse;
}

/** How a read uses the decrypted bytes in memory. `full`: a client's read, which may also cause
 *  bytes to be kept. `look-up`: returns those that are there, and counts as no read. */
export type CacheUse = "full" | "look-up";

/** An open extent. */
export interface ExtentFile {
  /** Writes all of `bytes`; `span` is that of a traced request. In an extent for aligned writes the
   *  bytes begin at a block and are in an aligned buffer (`process/bytes.ts`); the rest of their
   *  last block is zeroed in the buffer and written as well. */
  write(bytes: Uint8Array, position: number, span?: Span): Promise<void>;
  /** Fills all of `bytes`; throws `ExtentTooShort` if the extent ends before. */
  read(bytes: Uint8Array, position: number, options?: ReadOptions): Promise<void>;
  /** Resolves when everything written before the call is durable. */
  sync(): Promise<void>;
  /** Truncates the extent synchronously, which frees disk space. Absent if the storage allocates
   *  space only for written bytes, as S3. */
  shorten?(bytes: number): void;
  close(): Promise<void>;
}

/** The stored bytes are not those that were written: a checksum or an encryption tag is wrong. */
export class ContentDamaged extends Error {
  override readonly name = "ContentDamaged";
}

/** The extent ends before the bytes that a record refers to: its file was cut, for example. */
export class ExtentTooShort extends Error {
  override readonly name = "ExtentTooShort";
}
