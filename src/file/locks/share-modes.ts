import type { Ticks } from "../../base/ticks.ts";
import { dataAccess, shareDelete } from "./access.ts";
import { breakCaches } from "./caching.ts";
import type { LockState, Open } from "./lock-state.ts";

interface SharingRequest {
  /** SMB access mask. */
  readonly access: number;
  /** SMB share mode. */
  readonly share: number;
}

/**
 * The opens whose share mode conflicts with a new open: one of the two has an access that the other
 * does not permit. An open without data access conflicts with none.
 */
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

/** Which opens a request conflicts with, whatever their access: all, or those that do not share
 *  deletion. */
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

/** The opens that a request conflicts with. */
interface SharingConflict {
  readonly opens: readonly Open[];
  /** Set if clients may keep these handles only for caching: their handle caching is broken, so
   *  that they close such handles, and the request waits. Undefined if the conflict is final. */
  readonly breaking:
    | {
        readonly state: LockState;
        readonly keysToNotify: readonly string[];
        readonly since: Ticks;
      }
    | undefined;
}

/** The share-mode check of SMB and REST. Breaks handle caching before it reports a violation.
 *  Undefined if there is no conflict. */
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
  const { waitingSince: since, ...broken } = breakCaches(state, "violation", { ownKey, now, only });
  return { opens, breaking: since === undefined ? undefined : { ...broken, since } };
}
