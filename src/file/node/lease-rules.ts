import type { Ticks } from "../../base/ticks.ts";
import { isLocked } from "../../protocol/lease.ts";
import { dataAccess, shareDelete, shareWrite } from "../locks/access.ts";
import type { NodeRecord } from "../records.ts";

/** Whether a REST lease excludes an SMB open: writers and deleters, as an open that shares only
 *  reading would (`leaseAccess`). */
export function isLeasedAgainst(
  { kind, lease }: Pick<NodeRecord, "kind" | "lease">,
  access: number,
  now: Ticks,
): boolean {
  if ((dataAccess(access) & (shareWrite | shareDelete)) === 0) return false;
  return kind === "file" && isLocked(lease, now);
}
