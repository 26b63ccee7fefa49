import type { Stretch } from "./regions.ts";

/** Where extents lie: a folder, or memory. Errors carry the code of the system call. */
export interface ExtentFiles {
  /** How long an extent should get before the next one is begun. */
  readonly extentBytes: number;
  /** Bytes once written cannot be replaced: space that was given back is left alone. */
  readonly writesOnce?: boolean;
  /** Whole bodies up to this are better off in the key space; none beyond what callers say anyway,
   *  if not given. */
  readonly inlineBytesMax?: number;
  /** Makes an empty extent that survives a crash as an entry of its folder. */
  create(extent: bigint): Promise<ExtentFile>;
  open(extent: bigint): Promise<ExtentFile>;
  /** Does nothing if there is no such extent. */
  remove(extent: bigint): Promise<void>;
  /** Zero if there is no such extent. */
  size(extent: bigint): Promise<number>;
  /** What there is of an extent with gaps, in order; absent where there are none. */
  stretches?(extent: bigint): Promise<readonly Stretch[]>;
  /** Rejects if extents cannot be reached now; absent where they always can. */
  check?(): Promise<void>;
  /** Some of those that exist beyond `after`, in order, and none if there are no more; absent where
   *  nothing is left behind. */
  list?(after: bigint): Promise<readonly bigint[]>;
  /** Makes this the place of the store with this id; rejects if it is that of another. */
  claim?(storeId: string): Promise<void>;
}

export interface ExtentFile {
  /** Writes all of `bytes`. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Fills all of `bytes`, or throws because the extent is shorter. */
  read(bytes: Uint8Array, position: number): Promise<void>;
  /** Resolves when what was written before the call survives a loss of power. */
  sync(): Promise<void>;
  /** Cuts off what lies beyond, at once: its space is the disk's again. Absent where space that is
   *  given back takes none. */
  shorten?(bytes: number): void;
  close(): Promise<void>;
}

/** What is stored is not what was written. */
export class ContentDamaged extends Error {
  override readonly name = "ContentDamaged";
}

/** The extent ends before what a record says of it. */
export class ExtentTooShort extends Error {
  override readonly name = "ExtentTooShort";
}
