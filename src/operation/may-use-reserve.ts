import type { Operation } from "./operation.ts";

type ReservePolicy = Pick<Operation, "removes" | "mayUseReserve" | "lease">;

/** Whether an operation may use the space that is reserved for deletions on a full disk. Lease
 *  actions may: a lease must be broken before its blob can be deleted. */
export function mayUseReserve({ removes, mayUseReserve: may, lease }: ReservePolicy): boolean {
  return removes === true || may === true || lease === "action";
}
