import type { Ticks } from "../../base/ticks.ts";
import { isOplockStatOpen, isStatOpen } from "./access.ts";
import { breakCaches, grantCache, type CacheRequest } from "./caching.ts";
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

export interface OpenRequest {
  readonly open: Open;
  /** The open discards the file's bytes: overwrite and supersede. */
  readonly overwrites: boolean;
  readonly cache?: CacheRequest | undefined;
  readonly now: Ticks;
}

export type OpenRefusal = "delete-pending" | "sharing-violation" | "too-many-opens";

/** `wait`: breaks are running. The caller stores `state` and notifies the clients of
 *  `keysToNotify`, and decides again when the lock state changes or a break expires. */
export type OpenOutcome =
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

/** Checks in the order of [MS-FSA] 2.1.5.1.2: delete-pending, share modes, caching grants. */
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

/** Breaks batch oplocks before the share-mode check: the client may have closed the file and
 *  kept only the cached handle, so that a violation may vanish. */
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

export interface ClosedOpens {
  readonly state: LockState;
  /** The file is delete-pending and no handle is left: it is to be deleted. */
  readonly gone: boolean;
}

/** Removes opens with their locks, and caching grants that no open uses any more. */
export function decideClose(
  before: LockState,
  ids: ReadonlySet<bigint>,
  { mayDelete }: { readonly mayDelete: boolean },
): ClosedOpens {
  const closing = before.opens.filter(({ id }) => ids.has(id));
  if (closing.length === 0) return { state: before, gone: false };
  const opens = before.opens.filter(({ id }) => !ids.has(id));
  const ranges = before.ranges.filter(({ open }) => !ids.has(open));
  const keys = new Set(opens.map(({ cacheKey }) => cacheKey));
  const caches = before.caches.filter(({ key }) => keys.has(key));
  const marks = mayDelete && closing.some(({ deleteOnClose }) => deleteOnClose);
  const deletePending = before.deletePending || marks;
  const gone = deletePending && opens.length === 0;
  return { state: { opens, ranges, caches, deletePending: deletePending && !gone }, gone };
}
