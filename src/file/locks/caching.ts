import { ticksFromSeconds, type Ticks } from "../../base/ticks.ts";
import { isStatOpen } from "./access.ts";
import {
  cacheHandle,
  cacheRead,
  cacheWrite,
  type CachingGrant,
  type LockState,
  isOplockKey,
} from "./lock-state.ts";

/** Grants caching to SMB clients (as oplocks and SMB leases), and breaks it when another client or
 *  a REST request needs access. Pure functions on the lock state of a file. */

/** A client that does not acknowledge a break in this time loses the grant, as on Windows. */
export const breakSecondsMax = 35;

/** Which caching rights of other clients each kind of access revokes (`loses`), and for which of
 *  these it waits until the client has acknowledged the break (`waitsFor`). `violation`: the access
 *  conflicts with a handle, which its client may keep open only for caching and then closes.
 *  `remove`: the file is renamed or deleted. */
const breakTriggers = {
  open: { loses: cacheWrite, waitsFor: cacheWrite },
  overwrite: {
    loses: cacheRead | cacheWrite | cacheHandle,
    waitsFor: cacheWrite,
  },
  violation: { loses: cacheHandle, waitsFor: cacheHandle },
  write: { loses: cacheRead | cacheWrite | cacheHandle, waitsFor: cacheWrite },
  read: { loses: cacheWrite, waitsFor: cacheWrite },
  remove: { loses: cacheHandle, waitsFor: cacheHandle },
} as const;

export type BreakTrigger = keyof typeof breakTriggers;

/** What `breakCaches` returns: the lock state with the breaks that an access has started. */
export interface BreakResult {
  readonly state: LockState;
  /** Keys of the grants whose clients must be notified. If there are any, the caller stores
   *  `state`: each server process watches the lock records of its SMB clients, and notifies the
   *  clients. */
  readonly keysToNotify: readonly string[];
  /** When the oldest break started that the access must wait for; undefined if it need not wait. */
  readonly since: Ticks | undefined;
}

/** The breaks that an access must wait for. It is decided again when the lock state changes. */
export type PendingBreaks = BreakResult & { readonly since: Ticks };

export function mustWait(result: BreakResult): result is PendingBreaks {
  return result.since !== undefined;
}

interface BreakOptions {
  readonly ownKey?: string | undefined;
  readonly only?: ReadonlySet<string> | undefined;
  readonly now: Ticks;
}

/** Starts the breaks that an access causes (`breakTriggers`): of all grants but that with the key
 *  `ownKey`, or only of those in `only`. */
export function breakCaches(
  state: LockState,
  trigger: BreakTrigger,
  { ownKey, now, only }: BreakOptions,
): BreakResult {
  const { loses, waitsFor } = breakTriggers[trigger];
  const keysToNotify: string[] = [];
  let oldest: Ticks | undefined;
  const caches = state.caches.map((cache) => {
    if (isSpared(cache, trigger, ownKey) || only?.has(cache.key) === false) return cache;
    const current = expireBreak(cache, now);
    const isStepping = opening.has(trigger) && current.breaking?.further !== undefined;
    if ((current.held & loses) === 0 && !isStepping) return current;
    const next = startBreak(current, { loses, trigger, now });
    if (next !== current) keysToNotify.push(cache.key);
    if ((next.held & waitsFor) !== 0 || isStepping) {
      const since = next.breaking?.askedAt ?? now;
      oldest = oldest === undefined || since < oldest ? since : oldest;
    }
    return next;
  });
  const changed = caches.some((cache, index) => cache !== state.caches[index]);
  return { state: changed ? { ...state, caches } : state, keysToNotify, since: oldest };
}

/** Whether an access leaves a grant as it is because it belongs to the accessing handle. A write
 *  breaks every read-only oplock (level II), also that of the writing handle. */
function isSpared({ key, held }: CachingGrant, trigger: BreakTrigger, ownKey: string | undefined) {
  if (key !== ownKey) return false;
  return trigger !== "write" || held !== cacheRead || !isOplockKey(key);
}

/** Ends a break that was not acknowledged in time: the client loses all caching rights of the
 *  grant. */
function expireBreak(cache: CachingGrant, now: Ticks): CachingGrant {
  const { breaking } = cache;
  if (breaking === undefined) return cache;
  const due = breaking.askedAt + ticksFromSeconds(breakSecondsMax);
  return now < due ? cache : { key: cache.key, held: 0, epoch: cache.epoch };
}

/** Accesses that wait until all steps of a break are acknowledged. */
const opening: ReadonlySet<BreakTrigger> = new Set(["open", "overwrite"]);

interface BreakRequest {
  readonly loses: number;
  readonly trigger: BreakTrigger;
  readonly now: Ticks;
}

/** Starts a break of one grant. If one is running, an access that needs to revoke more starts
 *  another after the acknowledgement; only `overwrite` extends the running one. */
function startBreak(cache: CachingGrant, { loses, trigger, now }: BreakRequest): CachingGrant {
  if (cache.breaking !== undefined)
    return trigger === "overwrite" ? extendBreak(cache, loses) : cache;
  const to = validRights(cache.held & ~loses);
  const epoch = cache.epoch + 1;
  // A client with read caching alone has nothing to flush: it is notified and does not acknowledge.
  if (cache.held === cacheRead) return { key: cache.key, held: to, epoch };
  return { ...cache, breaking: { to, askedAt: now }, epoch };
}

/** Extends a running break by further rights, which are revoked in a step after the
 *  acknowledgement. */
function extendBreak(cache: CachingGrant, loses: number): CachingGrant {
  const { breaking } = cache;
  if (breaking === undefined) return cache;
  const goal = breaking.further ?? breaking.to;
  const further = validRights(goal & ~loses);
  return further === goal ? cache : { ...cache, breaking: { ...breaking, further } };
}

/** The caching rights, or none if they are not a valid combination. Read caching is part of every
 *  one (read, read and write, read and handle, all three), so a client that loses it loses all. */
function validRights(bits: number): number {
  return (bits & cacheRead) === 0 ? 0 : bits;
}

/** The lock state after an acknowledgement, or why it is rejected. */
export type AcknowledgeResult = LockState | "no-such-cache" | "not-breaking" | "too-much";

/** Applies a client's acknowledgement of a break. `kept` are the rights that the client keeps, at
 *  most those that the break leaves. */
export function acknowledgeBreak(
  state: LockState,
  { key, kept, now }: { readonly key: string; readonly kept: number; readonly now: Ticks },
): AcknowledgeResult {
  const cache = state.caches.find((each) => each.key === key);
  if (cache === undefined) return "no-such-cache";
  if (cache.breaking === undefined) return "not-breaking";
  if ((kept & ~cache.breaking.to) !== 0) return "too-much";
  const { further } = cache.breaking;
  const answered = stepDown({ key, held: validRights(kept), epoch: cache.epoch }, further, now);
  return { ...state, caches: state.caches.map((each) => (each === cache ? answered : each)) };
}

/** Starts the next step of a break, which revokes handle caching before read caching. A client with
 *  read caching alone is notified and does not acknowledge. */
function stepDown(cache: CachingGrant, further: number | undefined, now: Ticks): CachingGrant {
  if (further === undefined || (cache.held & ~further) === 0) return cache;
  if (cache.held === cacheRead) return { ...cache, held: further };
  // All steps of a break share one epoch, because the client sees them as one change of its lease.
  return { ...cache, breaking: { to: further | cacheRead, askedAt: now, further } };
}

/** The caching that a client requests when it opens a file, as an oplock or SMB lease. */
export interface CachingRequest {
  readonly key: string;
  /** The requested caching rights. */
  readonly wanted: number;
  /** Epoch of the SMB lease that the client sent; a new grant continues from it. */
  readonly epoch?: number | undefined;
}

/** Grants caching to an open that was just added to the state. An existing grant of the same key
 *  gets more rights only if the requested ones include the current ones and can all be granted. */
export function grantCache(
  state: LockState,
  { key, wanted, epoch = 0 }: CachingRequest,
): LockState {
  const held = state.caches.find((cache) => cache.key === key);
  if (held?.breaking !== undefined) return state;
  const allowed = grantableRights(state, key, wanted);
  if (held === undefined) {
    return { ...state, caches: [...state.caches, { key, held: allowed, epoch: epoch + 1 }] };
  }
  const isMore = allowed === wanted && (held.held & ~wanted) === 0 && wanted !== held.held;
  if (!isMore) return state;
  const raised = { key, held: wanted, epoch: held.epoch + 1 };
  return { ...state, caches: state.caches.map((cache) => (cache === held ? raised : cache)) };
}

/** The caching rights that a client may get: the requested ones without those that other handles,
 *  grants and byte-range locks exclude. */
function grantableRights(state: LockState, key: string, wanted: number): number {
  const others = state.caches.filter((cache) => cache.key !== key);
  // An oplock and an SMB lease with handle caching exclude each other: the later one gets fewer
  // rights.
  const handles = isOplockKey(key)
    ? others.some((cache) => !isOplockKey(cache.key) && (cache.held & cacheHandle) !== 0)
    : others.some((cache) => isOplockKey(cache.key) && cache.held !== 0);
  if (handles && isOplockKey(key)) return 0;
  // Nothing is granted while the file has byte-range locks, or another client has write caching.
  // The open has normally broken write caching before, but a stat open (`isStatOpen`) does not
  // break SMB leases.
  if (state.ranges.length > 0 || others.some(hasWrite)) return 0;
  const isAlone =
    others.every(({ held }) => held === 0) &&
    !state.opens.some((open) => open.cacheKey !== key && !isStatOpen(open.access));
  // Handle caching by oplock exists only together with write caching (batch).
  const lost = isOplockKey(key) ? cacheWrite | cacheHandle : cacheWrite;
  const shared = isAlone ? wanted : wanted & ~lost;
  return validRights(handles ? shared & ~cacheHandle : shared);
}

function hasWrite({ held }: CachingGrant): boolean {
  return (held & cacheWrite) !== 0;
}
