import type { Operation } from "./operation.ts";

/**
 * Whether an operation may use the space that is kept for deletions on a full disk. Deletions may,
 * and what a client needs on the way to one: a lease must be broken first, and a message is taken
 * from its queue (a GET that writes) before it can be deleted.
 */
export function mayUseReserve({ route, lease }: Pick<Operation, "route" | "lease">): boolean {
  return route.method === "DELETE" || route.method === "GET" || lease === "action";
}
