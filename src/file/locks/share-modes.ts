import { dataAccess } from "./access.ts";
import type { LockState, Open } from "./lock-state.ts";

export interface Wanted {
  readonly access: number;
  readonly share: number;
}

/**
 * The opens that a new one collides with: either wants something that the other does not share.
 * Opens without data access neither deny nor are denied.
 */
export function collisions({ opens }: LockState, wanted: Wanted): readonly Open[] {
  const wants = dataAccess(wanted.access);
  if (wants === 0) return none;
  return opens.filter((open) => {
    const has = dataAccess(open.access);
    if (has === 0) return false;
    return (wants & ~open.share) !== 0 || (has & ~wanted.share) !== 0;
  });
}

const none: readonly Open[] = [];
