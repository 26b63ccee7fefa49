import type { Ticks } from "../../base/ticks.ts";

/**
 * Everything that stands between a file or directory and whoever wants to touch it: who has it
 * open, which byte ranges are locked, who caches it, and whether it goes away with the last close.
 * A plain value, stored under the id of the file, never under its path, so that it follows renames.
 * Absent means that nobody has it open.
 */
export interface LockState {
  readonly opens: readonly Open[];
  readonly ranges: readonly RangeLock[];
  readonly caches: readonly CachingGrant[];
  /** Marked by an SMB client: no new opens, and removed when the last handle closes. */
  readonly deletePending: boolean;
}

export interface Open {
  /** Also the handle id that REST lists and closes. */
  readonly id: bigint;
  /** The process that answers for it; swept when the process is gone. */
  readonly owner: string;
  /** As granted, generic bits resolved. */
  readonly access: number;
  readonly share: number;
  readonly deleteOnClose: boolean;
  /** Who caches on behalf of this open: a lease key with its client, or the open's own id. */
  readonly cacheKey?: string | undefined;
  readonly session: bigint;
  readonly client: string;
  readonly openedAt: Ticks;
  /** Set while its connection is lost; until then it can be taken up again. */
  readonly disconnectedAt?: Ticks | undefined;
  /** What only the door that opened it understands. */
  readonly memo?: Readonly<Record<string, unknown>> | undefined;
}

export interface RangeLock {
  readonly open: bigint;
  readonly offset: bigint;
  readonly length: bigint;
  readonly exclusive: boolean;
}

/** Bits of a cache, as leases carry them on the wire. Oplocks are the same with a key of their own:
 *  level II is `R`, exclusive `RW`, batch `RWH`. */
export const cacheRead = 1;
export const cacheHandle = 2;
export const cacheWrite = 4;

export interface Break {
  readonly to: number;
  readonly askedAt: Ticks;
  /** What somebody who waits will have it come down to after that, step by step. */
  readonly further?: number | undefined;
}

export interface CachingGrant {
  readonly key: string;
  readonly held: number;
  /** What its holder was asked to come down to, and when; until it answers it holds `held`. */
  readonly breaking?: Break | undefined;
  /** Counts changes, for clients that order what they hear. */
  readonly epoch: number;
}

/** More handles than this on one file are refused. */
export const opensMax = 2000;
export const rangesMax = 10_000;

export const noLocks: LockState = { opens: [], ranges: [], caches: [], deletePending: false };

/** Such a state needs no record. */
export function isIdle(state: LockState): boolean {
  return state.opens.length === 0 && !state.deletePending;
}
