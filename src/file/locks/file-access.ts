import type { Ticks } from "../../base/ticks.ts";
import { deleteAccess, readData, shareAll, shareRead, writeData } from "./access.ts";
import { lockingRanges, type ByteSpan } from "./byte-ranges.ts";
import { breakCaches, type BreakTrigger } from "./caching.ts";
import type { LockState, Open } from "./lock-state.ts";
import { checkSharing } from "./share-modes.ts";

/** How an operation touches a file that clients may have open, locked or cached. */
export interface DataAccess {
  /** Which caching grants of other clients it breaks; undefined: none. */
  readonly breaks: BreakTrigger | undefined;
  /** How it touches bytes that may be locked; undefined: not at all. */
  readonly bytes: "reads" | "writes" | undefined;
}

/**
 * A REST operation counts as an SMB open for its duration.
 * learn.microsoft.com/rest/api/storageservices/managing-file-locks
 */
export interface FileAccess extends DataAccess {
  /** SMB access mask, compared with the share modes of the handles that are open. */
  readonly access: number;
  /** SMB share mode, compared with the access masks of the handles that are open. */
  readonly share: number;
  /** Fails while any handle is open, whatever its share mode. */
  readonly exclusive?: true;
}

/** Fails only for a delete-pending file. */
export const presenceAccess: FileAccess = {
  access: 0,
  share: shareAll,
  breaks: undefined,
  bytes: undefined,
};

/** Clients with write caching flush first: they may hold a later length or write time. */
export const propertiesAccess: FileAccess = { ...presenceAccess, breaks: "read" };

export const readAccess: FileAccess = { ...propertiesAccess, access: readData, bytes: "reads" };

export const writeAccess: FileAccess = {
  access: writeData,
  share: shareAll,
  breaks: "write",
  bytes: "writes",
};

export const replaceAccess: FileAccess = {
  ...writeAccess,
  access: writeData | deleteAccess,
  breaks: "overwrite",
};

/** A file that is renamed keeps its handles. */
export const moveAccess: FileAccess = {
  access: deleteAccess,
  share: shareAll,
  breaks: "remove",
  bytes: undefined,
};

/** Also for a directory that is renamed: Azure Files documents that it must not be open. */
export const removeAccess: FileAccess = { ...moveAccess, exclusive: true };

/** A REST lease excludes writers and deleters as long as it is held. */
export const leaseAccess: FileAccess = {
  access: readData | writeData | deleteAccess,
  share: shareRead,
  breaks: undefined,
  bytes: undefined,
};

/** What an operation through an SMB handle does; its access and share mode were checked at open. */
export const handleAccess = {
  read: { bytes: "reads", breaks: undefined },
  write: { bytes: "writes", breaks: "write" },
  /** Byte-range locks: the client is about to change the bytes, so other clients flush first. */
  lock: { bytes: undefined, breaks: "write" },
  /** Rename and delete: other clients close handles that they keep only for caching. */
  remove: { bytes: undefined, breaks: "remove" },
} as const satisfies Readonly<Record<string, DataAccess>>;

export type AccessFault = "delete-pending" | "sharing-violation" | "lock-conflict";

export type AccessCheck =
  | {
      readonly kind: "pass";
      readonly state: LockState;
      /** Caching grants whose holders must be notified: the state has to be stored. */
      readonly keysToNotify: readonly string[];
    }
  /** Breaks are running: store the state if `keysToNotify` says so, and check again when it
   *  changes. */
  | {
      readonly kind: "wait";
      readonly state: LockState;
      readonly keysToNotify: readonly string[];
      readonly since: Ticks;
      /** The handles that violate the share mode; undefined if only cached data is in the way. */
      readonly violators: readonly Open[] | undefined;
    }
  | {
      readonly kind: "fault";
      readonly fault: AccessFault;
      readonly opens: readonly Open[];
    };

export interface AccessRequest {
  readonly now: Ticks;
  /** The bytes it touches; undefined: none. */
  readonly span?: ByteSpan | undefined;
}

/** Whether an operation without a handle may access a file now: delete-pending, share modes,
 *  byte-range locks, then caching grants. */
export function checkAccess(
  locks: LockState,
  access: FileAccess,
  request: AccessRequest,
): AccessCheck {
  const { now } = request;
  if (locks.deletePending) return { kind: "fault", fault: "delete-pending", opens: locks.opens };
  const conflict = checkSharing(locks, { ...access, now });
  if (conflict === undefined) return checkDataAccess(locks, access, request);
  const { opens: violators, breaking } = conflict;
  if (breaking === undefined) {
    return { kind: "fault", fault: "sharing-violation", opens: violators };
  }
  return { kind: "wait", ...breaking, violators };
}

/** The part of the check that operations through a handle need, too. */
export function checkDataAccess(
  locks: LockState,
  { bytes, breaks }: DataAccess,
  { now, span, handle }: AccessRequest & { readonly handle?: bigint },
): AccessCheck {
  if (bytes !== undefined && span !== undefined) {
    const own = handle === undefined ? {} : { open: handle };
    const held = lockingRanges(locks, span, { ...own, writes: bytes === "writes" });
    if (held.length > 0) {
      const ids = new Set(held.map(({ open }) => open));
      const opens = locks.opens.filter(({ id }) => ids.has(id));
      return { kind: "fault", fault: "lock-conflict", opens };
    }
  }
  if (breaks === undefined || locks.caches.length === 0) {
    return { kind: "pass", state: locks, keysToNotify: [] };
  }
  const ownKey = locks.opens.find(({ id }) => id === handle)?.cacheKey;
  const { state, keysToNotify, waitingSince: since } = breakCaches(locks, breaks, { ownKey, now });
  if (since === undefined) return { kind: "pass", state, keysToNotify };
  return { kind: "wait", state, keysToNotify, since, violators: undefined };
}
