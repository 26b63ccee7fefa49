import type { Ticks } from "../../base/ticks.ts";

/** The opens, byte-range locks and caching grants of a file or directory, and whether it is
 *  delete-pending. Stored under the id of the file, not its path, so that it survives renames.
 *  Without a record the file is not open. */
export interface LockState {
  readonly opens: readonly Open[];
  readonly ranges: readonly RangeLock[];
  readonly caches: readonly CachingGrant[];
  /** Marked by an SMB client: it cannot be opened any more, and is deleted at the last close. */
  readonly deletePending: boolean;
}

export interface Open {
  /** Also the handle id that REST lists and closes. */
  readonly id: bigint;
  /** The process that serves the handle; when it ends, a sweep closes the handle. */
  readonly owner: string;
  /** The granted access mask, without generic rights. */
  readonly access: number;
  readonly share: number;
  readonly deleteOnClose: boolean;
  /** Key of its caching grant: the client's lease key, or one of its own for an oplock. */
  readonly cacheKey?: string | undefined;
  readonly session: bigint;
  readonly client: string;
  readonly openedAt: Ticks;
  /** When the connection of a durable handle was lost; undefined while it is connected. */
  readonly disconnectedAt?: Ticks | undefined;
  /** Data of the SMB layer, for a reconnect of a durable handle. */
  readonly memo?: Readonly<Record<string, unknown>> | undefined;
}

export interface RangeLock {
  readonly open: bigint;
  readonly offset: bigint;
  readonly length: bigint;
  readonly exclusive: boolean;
}

/** Caching rights, with the bits of SMB leases. Oplocks use the same: level II is `R`, exclusive
 *  `RW`, batch `RWH`. */
export const cacheRead = 1;
export const cacheHandle = 2;
export const cacheWrite = 4;

export interface Break {
  readonly to: number;
  readonly askedAt: Ticks;
  /** The rights that remain after all steps, if a waiting access needs more than this break. */
  readonly further?: number | undefined;
}

export interface CachingGrant {
  readonly key: string;
  readonly held: number;
  /** The running break; until it is acknowledged the client has the rights in `held`. */
  readonly breaking?: Break | undefined;
  /** Lease epoch: counts changes, so that clients can order notifications. */
  readonly epoch: number;
}

/** Bound of the handles of one file. */
export const opensMax = 2000;
export const rangesMax = 10_000;

export const noLocks: LockState = { opens: [], ranges: [], caches: [], deletePending: false };

/** Whether the state needs no record. */
export function isIdle(state: LockState): boolean {
  return state.opens.length === 0 && !state.deletePending;
}
