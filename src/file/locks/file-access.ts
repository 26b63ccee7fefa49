import type { Ticks } from "../../base/ticks.ts";
import { Right, shareAll, shareRead } from "./access.ts";
import { lockingRanges, type ByteSpan } from "./byte-ranges.ts";
import {
  breakCaches,
  mustWait,
  type BreakResult,
  type BreakTrigger,
  type PendingBreaks,
} from "./caching.ts";
import type { LockState, Open } from "./lock-state.ts";
import { checkSharing, type Exclusion } from "./opens.ts";

/** The kinds of access of REST and SMB operations to files that clients may have open, locked or
 *  cached, and the check whether an access is allowed. */

/** How an operation accesses the bytes of a file, and which caching of other clients it ends. */
export interface DataAccess {
  /** Which caching rights of other clients the operation revokes; undefined if none. */
  readonly breaks: BreakTrigger | undefined;
  /** How the operation accesses bytes that may be locked; undefined if it accesses none. */
  readonly bytes: "reads" | "writes" | undefined;
}

/** The access of a REST operation, which counts as an SMB open for its duration.
 *  learn.microsoft.com/rest/api/storageservices/managing-file-locks */
export interface FileAccess extends DataAccess {
  /** SMB access mask, compared with the share modes of the handles that are open. */
  readonly access: number;
  /** SMB share mode, compared with the access masks of the handles that are open. */
  readonly share: number;
  /** Replaces the comparison of access masks and share modes: the operation fails while a handle of
   *  this kind is open. */
  readonly exclusive?: Exclusion;
}

/** For REST operations that only need a file: they fail only if it is delete-pending. */
export const presenceAccess: FileAccess = {
  access: 0,
  share: shareAll,
  breaks: undefined,
  bytes: undefined,
};

/** For reading properties over REST: clients with write caching must flush first, because they may
 *  have a later length or write time. */
export const propertiesAccess: FileAccess = { ...presenceAccess, breaks: "read" };

/** For Get File, List Ranges and copies from a file. */
export const readAccess: FileAccess = {
  ...propertiesAccess,
  access: Right.readData,
  bytes: "reads",
};

/** For Put Range, and for setting properties and metadata. */
export const writeAccess: FileAccess = {
  access: Right.writeData,
  share: shareAll,
  breaks: "write",
  bytes: "writes",
};

export const replaceAccess: FileAccess = {
  ...writeAccess,
  access: Right.writeData | Right.delete,
  breaks: "overwrite",
};

/** For renaming a file over REST, after which it keeps its handles. */
export const moveAccess: FileAccess = {
  access: Right.delete,
  share: shareAll,
  breaks: "remove",
  bytes: undefined,
};

/** For deleting, and for renaming a directory, over REST: Azure Files documents that the target
 *  must not be open. */
export const removeAccess: FileAccess = { ...moveAccess, exclusive: "any-open" };

/** For replacing a file by a rename (REST and SMB): handles that share deletion keep it as a
 *  displaced file, which is deleted with the last of them. */
export const displaceAccess: FileAccess = {
  ...moveAccess,
  exclusive: "open-without-share-delete",
};

/** For acquiring an Azure lease: it fails while a client has the file open for writing or deleting,
 *  because the lease would exclude that access. */
export const leaseAccess: FileAccess = {
  access: Right.readData | Right.writeData | Right.delete,
  share: shareRead,
  breaks: undefined,
  bytes: undefined,
};

/** Access of operations through an SMB handle. Their access mask and share mode were checked when
 *  the handle was opened. */
export const handleAccess = {
  read: { bytes: "reads", breaks: undefined },
  write: { bytes: "writes", breaks: "write" },
  /** Byte-range locks: the client is about to change the bytes, so other clients lose their cached
   *  data first. */
  lock: { bytes: undefined, breaks: "write" },
  /** Rename and delete: other clients close handles that they keep only for caching. */
  remove: { bytes: undefined, breaks: "remove" },
} as const satisfies Readonly<Record<string, DataAccess>>;

export type AccessFault = "delete-pending" | "sharing-violation" | "lock-conflict";

/** The result of a check. `pass`: the access is allowed. `wait`: caching grants must be broken
 *  first. `fault`: the access is rejected because of the handles in `opens`. */
export type AccessCheck =
  | ({ readonly kind: "pass" } & Omit<BreakResult, "since">)
  | ({
      readonly kind: "wait";
      /** The handles that violate the share mode; undefined if the operation waits only for cached
       *  data. */
      readonly violators: readonly Open[] | undefined;
    } & PendingBreaks)
  | {
      readonly kind: "fault";
      readonly fault: AccessFault;
      readonly opens: readonly Open[];
    };

export interface AccessRequest {
  readonly now: Ticks;
  /** The bytes that the operation accesses; undefined if none. */
  readonly span?: ByteSpan | undefined;
}

/** Whether an operation without a handle may access a file now. Checks, in this order,
 *  delete-pending, share modes, byte-range locks and caching grants. */
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

/** Checks byte-range locks and caching grants only. This suffices for an operation through a
 *  handle, because share modes were checked when the handle was opened. */
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
  const broken = breakCaches(locks, breaks, { ownKey, now });
  if (mustWait(broken)) return { kind: "wait", ...broken, violators: undefined };
  return { kind: "pass", state: broken.state, keysToNotify: broken.keysToNotify };
}
