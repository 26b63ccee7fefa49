import type { Ticks } from "../../base/ticks.ts";
import { isOplockStatOpen, isStatOpen } from "./access.ts";
import { breakCaches, grantCache, type CachingRequest } from "./caching.ts";
import {
  cacheHandle,
  cacheRead,
  cacheWrite,
  opensMax,
  type LockState,
  type Open,
} from "./lock-state.ts";
import { isOplockKey } from "./oplock-keys.ts";
import { checkSharing } from "./share-modes.ts";

/** An open to add to a lock state. */
interface OpenRequest {
  readonly open: Open;
  /** Whether the open discards the bytes of the file, as overwrite and supersede do. */
  readonly overwrites: boolean;
  readonly cache?: CachingRequest | undefined;
  readonly now: Ticks;
}

type OpenRefusal = "delete-pending" | "sharing-violation" | "too-many-opens";

/** `wait`: breaks of caching grants are running. The caller stores `state` if `keysToNotify` is not
 *  empty, notifies the clients with these keys, and decides again when the lock state changes or a
 *  break expires. */
type OpenOutcome =
  | {
      readonly kind: "granted";
      readonly state: LockState;
      readonly keysToNotify: readonly string[];
    }
  | {
      readonly kind: "wait";
      readonly state: LockState;
      readonly keysToNotify: readonly string[];
      readonly since: Ticks;
    }
  | { readonly kind: "refused"; readonly refusal: OpenRefusal };

const batch = cacheRead | cacheWrite | cacheHandle;

/** Whether a file can be opened, and its lock state with the new handle. Checks delete-pending,
 *  share modes and caching grants, in the order of [MS-FSA] 2.1.5.1.2. */
export function decideOpen(before: LockState, request: OpenRequest): OpenOutcome {
  const { open, overwrites, now } = request;
  if (before.deletePending) return { kind: "refused", refusal: "delete-pending" };
  if (before.opens.length >= opensMax) return { kind: "refused", refusal: "too-many-opens" };
  const early = breakBatchOplocks(before, request);
  if (early.waitingSince !== undefined) {
    return {
      kind: "wait",
      state: early.state,
      keysToNotify: early.keysToNotify,
      since: early.waitingSince,
    };
  }
  const { access, share, cacheKey: ownKey } = open;
  const conflict = checkSharing(early.state, { access, share, ownKey, now });
  if (conflict?.breaking !== undefined) return { kind: "wait", ...conflict.breaking };
  if (conflict !== undefined) return { kind: "refused", refusal: "sharing-violation" };
  const quiet = isOplockStatOpen(open.access) && !overwrites;
  const only = isStatOpen(open.access) && !overwrites ? oplocksOf(early.state) : undefined;
  const breaking = quiet
    ? { state: early.state, keysToNotify: [], waitingSince: undefined }
    : breakCaches(early.state, overwrites ? "overwrite" : "open", {
        ownKey: open.cacheKey,
        now,
        ...(only && { only }),
      });
  const keysToNotify = [...early.keysToNotify, ...breaking.keysToNotify];
  if (breaking.waitingSince !== undefined) {
    return { kind: "wait", state: breaking.state, keysToNotify, since: breaking.waitingSince };
  }
  const entered = { ...breaking.state, opens: [...breaking.state.opens, open] };
  const state = request.cache === undefined ? entered : grantCache(entered, request.cache);
  return { kind: "granted", state, keysToNotify };
}

function oplocksOf({ caches }: LockState): ReadonlySet<string> {
  return new Set(caches.map(({ key }) => key).filter(isOplockKey));
}

/** Breaks batch oplocks before the share-mode check. Their client may have closed the file and kept
 *  the handle only for caching; once it closes the handle, there may be no violation. */
function breakBatchOplocks(state: LockState, { open, overwrites, now }: OpenRequest) {
  const keys = new Set(
    state.caches
      .filter(({ key, held }) => held === batch && isOplockKey(key))
      .map(({ key }) => key),
  );
  if (keys.size === 0 || (isOplockStatOpen(open.access) && !overwrites)) {
    return { state, keysToNotify: [], waitingSince: undefined };
  }
  const trigger = overwrites ? "overwrite" : "open";
  return breakCaches(state, trigger, { ownKey: open.cacheKey, now, only: keys });
}

/** The lock state after handles were closed. */
interface CloseOutcome {
  readonly state: LockState;
  /** Whether the file must be deleted: it is delete-pending and no handle is left. */
  readonly deletesFile: boolean;
}

/** Removes handles with their byte-range locks, and caching grants that no other handle uses.
 *  `mayDelete` is false for a file that cannot be deleted: then a handle with delete-on-close does
 *  not make it delete-pending. */
export function decideClose(
  before: LockState,
  ids: ReadonlySet<bigint>,
  { mayDelete }: { readonly mayDelete: boolean },
): CloseOutcome {
  const closing = before.opens.filter(({ id }) => ids.has(id));
  if (closing.length === 0) return { state: before, deletesFile: false };
  const opens = before.opens.filter(({ id }) => !ids.has(id));
  const ranges = before.ranges.filter(({ open }) => !ids.has(open));
  const keys = new Set(opens.map(({ cacheKey }) => cacheKey));
  const caches = before.caches.filter(({ key }) => keys.has(key));
  const marks = mayDelete && closing.some(({ deleteOnClose }) => deleteOnClose);
  const deletePending = before.deletePending || marks;
  const deletesFile = deletePending && opens.length === 0;
  return {
    state: { opens, ranges, caches, deletePending: deletePending && !deletesFile },
    deletesFile,
  };
}
