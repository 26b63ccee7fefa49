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
 * The opens that a new one conflicts with: one of the two has an access that the other does not
 * share. Opens without data access conflict with none.
 */
export function collisions({ opens }: LockState, request: SharingRequest): readonly Open[] {
  const wants = dataAccess(request.access);
  if (wants === 0) return none;
  return opens.filter((open) => {
    const has = dataAccess(open.access);
    if (has === 0) return false;
    return (wants & ~open.share) !== 0 || (has & ~request.share) !== 0;
  });
}

const none: readonly Open[] = [];

export interface SharingConflict {
  readonly opens: readonly Open[];
  /** Clients may keep the handles only for caching: they are asked to close them, and the request
   *  waits. Undefined: the conflict is final. */
  readonly breaking:
    | {
        readonly state: LockState;
        readonly keysToNotify: readonly string[];
        readonly since: Ticks;
      }
    | undefined;
}

/** The share-mode check of both protocols: breaks handle caching before it reports a violation. */
export function checkSharing(
  state: LockState,
  request: SharingRequest & {
    /** Conflicts with every open, whatever it shares. */
    readonly exclusive?: true;
    readonly ownKey?: string | undefined;
    readonly now: Ticks;
  },
): SharingConflict | undefined {
  const { ownKey, now } = request;
  const opens = request.exclusive === true ? state.opens : collisions(state, request);
  if (opens.length === 0) return undefined;
  const only = new Set(opens.flatMap(({ cacheKey }) => cacheKey ?? []));
  const { waitingSince: since, ...broken } = breakCaches(state, "violation", { ownKey, now, only });
  return { opens, breaking: since === undefined ? undefined : { ...broken, since } };
}
