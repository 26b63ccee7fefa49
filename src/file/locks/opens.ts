import type { Ticks } from "../../base/ticks.ts";
import { dataAccess, shareDelete, isOplockStatOpen, isStatOpen } from "./access.ts";
import {
  breakCaches,
  grantCache,
  mustWait,
  type BreakResult,
  type CachingRequest,
  type PendingBreaks,
} from "./caching.ts";
import {
  cacheHandle,
  cacheRead,
  cacheWrite,
  opensMax,
  type LockState,
  type Open,
  isOplockKey,
} from "./lock-state.ts";

/** Opening and closing in the lock state of a file: share modes, breaks before an open,
 *  delete-pending. */

/** What the share-mode check compares: access mask and share mode of an open, or of a REST
 *  operation, which counts as one. */
interface SharingRequest {
  readonly access: number;
  readonly share: number;
}

/** The opens whose share mode conflicts with a new open: one of the two has an access that the
 *  other does not permit. An open without data access conflicts with none. */
export function sharingConflicts({ opens }: LockState, request: SharingRequest): readonly Open[] {
  const wants = dataAccess(request.access);
  if (wants === 0) return none;
  return opens.filter((open) => {
    const has = dataAccess(open.access);
    if (has === 0) return false;
    return (wants & ~open.share) !== 0 || (has & ~request.share) !== 0;
  });
}

const none: readonly Open[] = [];

/** Which opens a REST operation or a rename conflicts with, whatever their access: all, or those
 *  that do not share deletion. */
export type Exclusion = "any-open" | "open-without-share-delete";

function conflictsWith(
  state: LockState,
  request: SharingRequest & { readonly exclusive?: Exclusion },
): readonly Open[] {
  const { exclusive } = request;
  if (exclusive === undefined) return sharingConflicts(state, request);
  if (exclusive === "any-open") return state.opens;
  return state.opens.filter(({ share }) => (share & shareDelete) === 0);
}

/** What the share-mode check returns for a conflict. */
interface SharingConflict {
  readonly opens: readonly Open[];
  /** Set if all conflicting handles are perhaps open only for caching. The handle caching of their
   *  clients is broken, so that they close the handles, and the request waits. Undefined if the
   *  conflict is final. */
  readonly breaking: PendingBreaks | undefined;
}

/** Checks the access of an open or REST operation against the share modes of the handles that are
 *  open. Breaks handle caching before it reports a violation. Undefined if there is no conflict. */
export function checkSharing(
  state: LockState,
  request: SharingRequest & {
    readonly exclusive?: Exclusion;
    readonly ownKey?: string | undefined;
    readonly now: Ticks;
  },
): SharingConflict | undefined {
  const { ownKey, now } = request;
  const opens = conflictsWith(state, request);
  if (opens.length === 0) return undefined;
  const only = new Set(opens.flatMap(({ cacheKey }) => cacheKey ?? []));
  const broken = breakCaches(state, "violation", { ownKey, now, only });
  return { opens, breaking: mustWait(broken) ? broken : undefined };
}

/** The input of `decideOpen`: a handle to add to the lock state of a file. */
interface OpenRequest {
  readonly open: Open;
  /** Whether the open discards the bytes of the file, as overwrite and supersede do. */
  readonly overwrites: boolean;
  readonly cache?: CachingRequest | undefined;
  readonly now: Ticks;
}

type OpenRefusal = "delete-pending" | "sharing-violation" | "too-many-opens";

type OpenOutcome =
  | ({ readonly kind: "granted" } & Omit<BreakResult, "since">)
  | ({ readonly kind: "wait" } & PendingBreaks)
  | { readonly kind: "refused"; readonly refusal: OpenRefusal };

const batch = cacheRead | cacheWrite | cacheHandle;

/** Whether a file can be opened, and its lock state with the new handle. Checks delete-pending,
 *  share modes and caching grants, in the order of [MS-FSA] 2.1.5.1.2. */
export function decideOpen(before: LockState, request: OpenRequest): OpenOutcome {
  const { open, overwrites, now } = request;
  if (before.deletePending) return { kind: "refused", refusal: "delete-pending" };
  if (before.opens.length >= opensMax) return { kind: "refused", refusal: "too-many-opens" };
  const breaksOplocks = overwrites || !isOplockStatOpen(open.access);
  const early = breaksOplocks ? breakBatchOplocks(before, request) : unbroken(before);
  if (mustWait(early)) return { kind: "wait", ...early };
  const { access, share, cacheKey: ownKey } = open;
  const conflict = checkSharing(early.state, { access, share, ownKey, now });
  if (conflict?.breaking !== undefined) return { kind: "wait", ...conflict.breaking };
  if (conflict !== undefined) return { kind: "refused", refusal: "sharing-violation" };
  const only = isStatOpen(access) && !overwrites ? oplocksOf(early.state) : undefined;
  const late = breaksOplocks
    ? breakCaches(early.state, overwrites ? "overwrite" : "open", { ownKey, now, only })
    : unbroken(early.state);
  const keysToNotify = [...early.keysToNotify, ...late.keysToNotify];
  if (mustWait(late)) return { kind: "wait", ...late, keysToNotify };
  const entered = { ...late.state, opens: [...late.state.opens, open] };
  const state = request.cache === undefined ? entered : grantCache(entered, request.cache);
  return { kind: "granted", state, keysToNotify };
}

function unbroken(state: LockState): BreakResult {
  return { state, keysToNotify: [], since: undefined };
}

function oplocksOf({ caches }: LockState): ReadonlySet<string> {
  return new Set(caches.map(({ key }) => key).filter(isOplockKey));
}

/** Breaks batch oplocks (read, write and handle caching) before the share-mode check. Their client
 *  may have closed the file and kept the handle only for caching; once it closes the handle, there
 *  may be no violation. */
function breakBatchOplocks(state: LockState, { open, overwrites, now }: OpenRequest): BreakResult {
  const batches = state.caches.filter(({ key, held }) => held === batch && isOplockKey(key));
  if (batches.length === 0) return unbroken(state);
  const only = new Set(batches.map(({ key }) => key));
  const trigger = overwrites ? "overwrite" : "open";
  return breakCaches(state, trigger, { ownKey: open.cacheKey, now, only });
}

interface CloseOutcome {
  readonly state: LockState;
  /** Whether the file must be deleted: it is delete-pending and no handle is left. */
  readonly deletesFile: boolean;
}

/** The lock state without some handles, their byte-range locks, and the caching grants that no
 *  other handle uses. `mayDelete` is false for a file that cannot be deleted: then a handle with
 *  delete-on-close does not make it delete-pending. */
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
