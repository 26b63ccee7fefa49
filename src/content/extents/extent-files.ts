import type { Span } from "../../base/span.ts";
import type { ExtentRange, Regions } from "./regions.ts";

/** Storage for extents, the append-only units in which the bytes of many contents are stored: a
 *  folder (`disk-files.ts`), memory (`memory-files.ts`) or a bucket
 *  (`content/s3/open-s3-files.ts`). The rest of `content/` depends only on this interface. Errors
 *  have the code of the system call. */
export interface ExtentFiles {
  /** Length at which the next extent is started. */
  readonly extentBytes: number;
  /** Whether written bytes cannot be replaced: then freed regions are not reused. */
  readonly writesOnce?: boolean;
  /** Size of the blocks of extents for aligned writes, which take large bodies; absent if the
   *  storage has none. */
  readonly blockBytes?: number;
  /** How offsets in slices relate to positions in the extent; absent if they are the same.
   *  Encrypted extents have a layout, because each chunk is stored with its nonce and tag. */
  readonly layout?: ExtentLayout;
  /** Whole bodies up to this length are stored in the record, because storing them here costs more;
   *  absent if the caller's limit applies. */
  readonly inlineBytesMax?: number;
  /** Creates an empty extent, for aligned writes if `isAligned`. Resolves when its creation is
   *  durable. */
  create(extent: bigint, isAligned?: boolean): Promise<ExtentFile>;
  open(extent: bigint): Promise<ExtentFile>;
  /** Does nothing if the extent does not exist. */
  remove(extent: bigint): Promise<void>;
  /** 0 if the extent does not exist. */
  size(extent: bigint): Promise<number>;
  /** Stored ranges of an extent with gaps, in order; absent if the storage has no gaps. */
  ranges?(extent: bigint): Promise<readonly ExtentRange[]>;
  /** Rejects if the storage is unreachable; absent for local storage. */
  check?(): Promise<void>;
  /** Lists some of the extents after `after`, in order, none if there are no more. Absent if the
   *  storage leaves no orphans. */
  list?(after: bigint): Promise<readonly bigint[]>;
  /** Truncates a sealed extent, which frees its last bytes. Does nothing if it is shorter or does
   *  not exist. Absent if the storage cannot do it. */
  truncate?(extent: bigint, bytes: number): Promise<void>;
  /** Space for compaction on a full disk; absent if the storage needs none. */
  readonly spare?: SpareSpace;
  /** Marks the storage as that of the store with this id; rejects if it belongs to another
   *  store. */
  claim?(storeId: string): Promise<void>;
}

/** The layout of extents in which bytes take more space than their number. An offset then is not a
 *  position in the file, but the bytes of a region still have consecutive offsets. */
export interface ExtentLayout {
  /** Longest region that is stored as one encrypted chunk, so that it must be written at once. A
   *  region for bytes that arrive in several writes must be longer. */
  readonly wholeBytesMax: number;
  /** The regions of a new extent, which may take this space. */
  newRegions(capacity: number): Regions;
  /** The position after the space that bytes of one region take. */
  storedEnd(offset: number, length: number): number;
}

/** The position after the last byte of a range that a slice refers to. */
export function storedEndOf(
  { layout }: Pick<ExtentFiles, "layout">,
  offset: number,
  length: number,
): number {
  return layout === undefined ? offset + length : layout.storedEnd(offset, length);
}

/** Space that is allocated before the disk is full, so that an extent can still be written. */
export interface SpareSpace {
  readonly bytes: number;
  /** Whether so little space is free that bodies are, or soon will be, rejected. */
  isDiskFull(): Promise<boolean>;
  /** Allocates the space if it is not; synchronous, so that no body gets space that was just freed
   *  for it. Does nothing if the disk is full. */
  fill(): void;
  /** Creates an extent of `bytes` zeros from the space; undefined if it is not allocated. */
  use(extent: bigint): Promise<ExtentFile | undefined>;
}

/** An open extent. A traced request passes its span: calls of another machine are parts of it. */
export interface ExtentFile {
  /** Writes all of `bytes`. In an extent for aligned writes they begin at a block, in an aligned
   *  buffer (`process/bytes.ts`), and the rest of their last block is zeroed in the buffer and
   *  written as well. */
  write(bytes: Uint8Array, position: number, span?: Span): Promise<void>;
  /** Fills all of `bytes`, or throws because the extent is shorter. */
  read(bytes: Uint8Array, position: number, span?: Span): Promise<void>;
  /** Resolves when everything written before the call is durable. */
  sync(): Promise<void>;
  /** Truncates the extent synchronously, which frees disk space. Absent if freed regions take no
   *  space. */
  shorten?(bytes: number): void;
  close(): Promise<void>;
}

/** The stored bytes are not those that were written. */
export class ContentDamaged extends Error {
  override readonly name = "ContentDamaged";
}

/** The extent is shorter than a record's reference to it. */
export class ExtentTooShort extends Error {
  override readonly name = "ExtentTooShort";
}
