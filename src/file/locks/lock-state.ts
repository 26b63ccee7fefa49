import type { Ticks } from "../../base/ticks.ts";

/** The lock state of a file: what SMB clients have open, locked and cached. It is stored in the
 *  table `locks` (`file/records.ts`), and checked by REST operations, too. */

/** The opens, byte-range locks and caching grants of a file or directory, and whether it is
 *  delete-pending. Stored under the id of the file, not its path, so that it survives renames.
 *  Without a record the file is not open. */
export interface LockState {
  readonly opens: readonly Open[];
  readonly ranges: readonly RangeLock[];
  readonly caches: readonly CachingGrant[];
  /** Set by an SMB client: the file cannot be opened any more, and is deleted at the last close. */
  readonly deletePending: boolean;
}

/** An entry for one open handle of an SMB client. */
export interface Open {
  /** Persistent id of the SMB handle; also the handle id that List Handles and Force Close Handles
   *  use. */
  readonly id: bigint;
  /** The server process that holds the handle. After that process has ended, a sweep closes the
   *  handle. */
  readonly owner: string;
  /** The granted access mask, without generic rights. */
  readonly access: number;
  /** Share mode: which access this open permits to other opens while it exists. */
  readonly share: number;
  readonly deleteOnClose: boolean;
  /** Key of the caching grant: the lease key of the client, or `oplockKey` for an oplock. Undefined
   *  without a grant. */
  readonly cacheKey?: string | undefined;
  readonly session: bigint;
  readonly client: string;
  readonly openedAt: Ticks;
  /** When the connection of a durable handle was lost; undefined while it is connected. */
  readonly disconnectedAt?: Ticks | undefined;
}

/** A byte-range lock of the handle with the id `open`. */
export interface RangeLock {
  readonly open: bigint;
  readonly offset: bigint;
  readonly length: bigint;
  readonly exclusive: boolean;
}

/** Caching rights, with the bits of SMB leases. Oplocks are stored with these bits: level II is
 *  `R`, exclusive `RW`, batch `RWH`. */
export const cacheRead = 1;
export const cacheHandle = 2;
export const cacheWrite = 4;

/** A break that the client has not acknowledged yet. It has several steps if an access that came
 *  later needs to revoke more. */
interface Break {
  /** The caching rights that the client may keep after this step. */
  readonly to: number;
  readonly askedAt: Ticks;
  /** The rights that remain after all steps, if a waiting access needs to revoke more than this
   *  step does. */
  readonly further?: number | undefined;
}

/** Permission for one client to cache the file (SMB lease or oplock), with its rights in `held`. */
export interface CachingGrant {
  readonly key: string;
  readonly held: number;
  /** The running break; until it is acknowledged or expires, the client has the rights in
   *  `held`. */
  readonly breaking?: Break | undefined;
  /** Epoch of the SMB lease: counts changes of the grant, so that the client can order the
   *  notifications that it gets. */
  readonly epoch: number;
}

/** Limit of this server for the handles of one file: each open rewrites the whole record. */
export const opensMax = 2000;
/** Limit of this server for the byte-range locks of one file, which are part of the same record. */
export const rangesMax = 10_000;

export const noLocks: LockState = { opens: [], ranges: [], caches: [], deletePending: false };

/** Whether a lock state contains nothing: no opens, and no pending deletion. It is then not stored:
 *  a missing record means `noLocks`. */
export function isIdle(state: LockState): boolean {
  return state.opens.length === 0 && !state.deletePending;
}

const oplockPrefix = "oplock:";

/** Key of the caching grant of an open with an oplock. An oplock belongs to one handle; an SMB
 *  lease has a key that the client chooses for all its handles of the file. */
export function oplockKey(open: bigint): string {
  return `${oplockPrefix}${open}`;
}

export function isOplockKey(key: string): boolean {
  return key.startsWith(oplockPrefix);
}
