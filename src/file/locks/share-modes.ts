import type { Ticks } from "../../base/ticks.ts";
import { dataAccess } from "./access.ts";
import { breakCaches } from "./caching.ts";
import type { LockState, Open } from "./lock-state.ts";

export interface SharingRequest {
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

/** The opens that a request conflicts with. */
export interface SharingConflict {
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
    /** Conflicts with every open, whatever its share mode. */
    readonly exclusive?: true;
    readonly ownKey?: string | undefined;
    readonly now: Ticks;
  },
): SharingConflict | undefined {
  const { ownKey, now } = request;
  const opens = request.exclusive === true ? state.opens : sharingConflicts(state, request);
  if (opens.length === 0) return undefined;
  const only = new Set(opens.flatMap(({ cacheKey }) => cacheKey ?? []));
  const { waitingSince: since, ...broken } = breakCaches(state, "violation", { ownKey, now, only });
  return { opens, breaking: since === undefined ? undefined : { ...broken, since } };
}
