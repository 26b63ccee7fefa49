import { ticksFromSeconds, type Ticks } from "../../base/ticks.ts";
import { isStatOpen } from "./access.ts";
import {
  cacheHandle,
  cacheRead,
  cacheWrite,
  type CachingGrant,
  type LockState,
  type Open,
} from "./lock-state.ts";
import { isOplockKey } from "./oplock-keys.ts";

/** A client that does not answer a break in this time has lost what it held. */
export const breakSecondsMax = 35;

/** What touching a file takes from those who cache it, and what of it must be waited for. */
export const breakTriggers = {
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

export interface BreakResult {
  readonly state: LockState;
  /** Keys of caches whose holders must hear of it now. */
  readonly keysToNotify: readonly string[];
  /** Since when a holder is being waited for; undefined if nothing stands in the way. */
  readonly waitingSince: Ticks | undefined;
}

/** Starts the breaks that a trigger asks for, except of the cache that belongs to the cause. */
export function breakCaches(
  state: LockState,
  trigger: BreakTrigger,
  { ownKey, now, only }: { ownKey?: string | undefined; now: Ticks; only?: ReadonlySet<string> },
): BreakResult {
  const { loses, waitsFor } = breakTriggers[trigger];
  const keysToNotify: string[] = [];
  let waitingSince: Ticks | undefined;
  const caches = state.caches.map((cache) => {
    if (isSpared(cache, trigger, ownKey) || only?.has(cache.key) === false) return cache;
    const current = settled(cache, now);
    const isStepping = opening.has(trigger) && current.breaking?.further !== undefined;
    if ((current.held & loses) === 0 && !isStepping) return current;
    const next = startBreak(current, { loses, trigger, now });
    if (next !== current) keysToNotify.push(cache.key);
    if ((next.held & waitsFor) !== 0 || isStepping) {
      const since = next.breaking?.askedAt ?? now;
      waitingSince = waitingSince === undefined || since < waitingSince ? since : waitingSince;
    }
    return next;
  });
  const changed = caches.some((cache, index) => cache !== state.caches[index]);
  return {
    state: changed ? { ...state, caches } : state,
    keysToNotify: keysToNotify,
    waitingSince,
  };
}

/** The cause's own cache stays, but an oplock of level II survives no write, whosever it is. */
function isSpared({ key, held }: CachingGrant, trigger: BreakTrigger, ownKey: string | undefined) {
  if (key !== ownKey) return false;
  return trigger !== "write" || held !== cacheRead || !isOplockKey(key);
}

/** A break that was not answered in time counts as answered with nothing. */
function settled(cache: CachingGrant, now: Ticks): CachingGrant {
  const { breaking } = cache;
  if (breaking === undefined) return cache;
  const due = breaking.askedAt + ticksFromSeconds(breakSecondsMax);
  return now < due ? cache : { key: cache.key, held: 0, epoch: cache.epoch };
}

/** Opens wait until a holder has come all the way down that one of them needs. */
const opening: ReadonlySet<BreakTrigger> = new Set(["open", "overwrite"]);

interface BreakWish {
  readonly loses: number;
  readonly trigger: BreakTrigger;
  readonly now: Ticks;
}

/** One break at a time: whoever needs a deeper one asks again after the answer. */
function startBreak(cache: CachingGrant, { loses, trigger, now }: BreakWish): CachingGrant {
  if (cache.breaking !== undefined) return trigger === "overwrite" ? deepen(cache, loses) : cache;
  const to = legal(cache.held & ~loses);
  const epoch = cache.epoch + 1;
  // Whoever only reads has nothing to flush: it is keysToNotify, and nobody waits for an answer.
  if (cache.held === cacheRead) return { key: cache.key, held: to, epoch };
  return { ...cache, breaking: { to, askedAt: now }, epoch };
}

function deepen(cache: CachingGrant, loses: number): CachingGrant {
  const { breaking } = cache;
  if (breaking === undefined) return cache;
  const goal = breaking.further ?? breaking.to;
  const further = legal(goal & ~loses);
  return further === goal ? cache : { ...cache, breaking: { ...breaking, further } };
}

/** R, RW, RH and RWH exist; without R nothing is left. */
function legal(bits: number): number {
  return (bits & cacheRead) === 0 ? 0 : bits;
}

export type Acknowledged = LockState | "no-such-cache" | "not-breaking" | "too-much";

/** A holder's answer to a break: at most what it was asked to come down to. */
export function acknowledgeBreak(
  state: LockState,
  { key, kept, now }: { readonly key: string; readonly kept: number; readonly now: Ticks },
): Acknowledged {
  const cache = state.caches.find((each) => each.key === key);
  if (cache === undefined) return "no-such-cache";
  if (cache.breaking === undefined) return "not-breaking";
  if ((kept & ~cache.breaking.to) !== 0) return "too-much";
  const { further } = cache.breaking;
  const answered = stepDown({ key, held: legal(kept), epoch: cache.epoch }, further, now);
  return { ...state, caches: state.caches.map((each) => (each === cache ? answered : each)) };
}

/** Handles go before reading does; who only reads is keysToNotify, and not asked. */
function stepDown(cache: CachingGrant, further: number | undefined, now: Ticks): CachingGrant {
  if (further === undefined || (cache.held & ~further) === 0) return cache;
  if (cache.held === cacheRead) return { ...cache, held: further };
  // The steps of one way down count as one change.
  return { ...cache, breaking: { to: further | cacheRead, askedAt: now, further } };
}

export interface CacheRequest {
  readonly key: string;
  readonly wanted: number;
  /** Where the client's count of changes stands; a new cache goes on from there. */
  readonly epoch?: number | undefined;
}

/**
 * What a newcomer may cache, after its open was entered. A key that holds something already gets
 * more only if that includes all it has, and all that it asks for can be given.
 */
export function grantCache(state: LockState, { key, wanted, epoch = 0 }: CacheRequest): LockState {
  const held = state.caches.find((cache) => cache.key === key);
  if (held?.breaking !== undefined) return state;
  const allowed = allowedCache(state, key, wanted);
  if (held === undefined) {
    return { ...state, caches: [...state.caches, { key, held: allowed, epoch: epoch + 1 }] };
  }
  const isMore = allowed === wanted && (held.held & ~wanted) === 0 && wanted !== held.held;
  if (!isMore) return state;
  const raised = { key, held: wanted, epoch: held.epoch + 1 };
  return { ...state, caches: state.caches.map((cache) => (cache === held ? raised : cache)) };
}

function allowedCache(state: LockState, key: string, wanted: number): number {
  const others = state.caches.filter((cache) => cache.key !== key);
  // Oplocks and leases that keep handles do not go together: the newcomer gets less.
  const handles = isOplockKey(key)
    ? others.some((cache) => !isOplockKey(cache.key) && (cache.held & cacheHandle) !== 0)
    : others.some((cache) => isOplockKey(cache.key) && cache.held !== 0);
  if (handles && isOplockKey(key)) return 0;
  // Who only looked at attributes broke nothing, so that somebody may still cache writes.
  if (state.ranges.length > 0 || others.some(hasWrite)) return 0;
  const isAlone =
    others.every(({ held }) => held === 0) && !state.opens.some((open) => isOther(open, key));
  // An oplock keeps handles only together with writes.
  const lost = isOplockKey(key) ? cacheWrite | cacheHandle : cacheWrite;
  const shared = isAlone ? wanted : wanted & ~lost;
  return legal(handles ? shared & ~cacheHandle : shared);
}

function hasWrite({ held }: CachingGrant): boolean {
  return (held & cacheWrite) !== 0;
}

function isOther({ cacheKey, access }: Open, key: string): boolean {
  return cacheKey !== key && !isStatOpen(access);
}
