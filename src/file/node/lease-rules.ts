import type { Ticks } from "../../base/ticks.ts";
import { isLocked } from "../../protocol/lease.ts";
import { dataAccess, shareDelete, shareWrite } from "../locks/access.ts";
import type { NodeRecord } from "../records.ts";

/** Whether an Azure lease of a file prevents an SMB open. It excludes writing and deleting, like an
 *  open with a share mode that permits only reading (`leaseAccess`). */
export function isLeasedAgainst(
  { kind, lease }: Pick<NodeRecord, "kind" | "lease">,
  access: number,
  now: Ticks,
): boolean {
  if ((dataAccess(access) & (shareWrite | shareDelete)) === 0) return false;
  return kind === "file" && isLocked(lease, now);
}
