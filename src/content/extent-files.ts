import type { ExtentRange } from "./regions.ts";

/** Storage for extents: a folder, memory or a bucket. Errors have the code of the system call. */
export interface ExtentFiles {
  /** Length at which the next extent is started. */
  readonly extentBytes: number;
  /** Whether written bytes cannot be replaced: then freed regions are not reused. */
  readonly writesOnce?: boolean;
  /** Whole bodies up to this length are stored in the record, because storing them here costs more;
   *  absent if the caller's limit applies. */
  readonly inlineBytesMax?: number;
  /** Creates an empty extent. Resolves when its creation is durable. */
  create(extent: bigint): Promise<ExtentFile>;
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
  /** Marks the storage as that of the store with this id; rejects if it belongs to another
   *  store. */
  claim?(storeId: string): Promise<void>;
}

/** An open extent. */
export interface ExtentFile {
  /** Writes all of `bytes`. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Fills all of `bytes`, or throws because the extent is shorter. */
  read(bytes: Uint8Array, position: number): Promise<void>;
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
