import { applyLeaseAction, type LeaseAction } from "./lease-action.ts";
import type { Lease, LeaseKind } from "./lease.ts";
import type { Failure } from "./result.ts";
import type { Ticks } from "../base/ticks.ts";

export const leaseReplyHeaders = ["x-ms-lease-id", "x-ms-lease-time"] as const;

interface Leasable {
  readonly lease?: Lease | undefined;
}

export interface LeaseContext<T> {
  readonly target: T;
  readonly action: LeaseAction;
  readonly kind: LeaseKind;
  readonly now: Ticks;
  readonly newGuid: () => string;
}

const statuses = { acquire: 201, renew: 200, change: 200, release: 200, break: 202 } as const;

/** The reply of a lease action: the record to store (`put`), and as headers the lease id or, for a
 *  break, the seconds until the lease is broken. */
export function leaseReply<T extends Leasable>(context: LeaseContext<T>) {
  const { target, action, kind, now, newGuid } = context;
  const applied = applyLeaseAction(target.lease, action, { kind, now, freshId: newGuid() });
  if (!applied.ok) return applied satisfies Failure;
  const { lease, leaseTimeSeconds } = applied.value;
  const tellsId = action.action !== "break" && action.action !== "release";
  // Recorded: the release of a share lease returns a lease time of 0.
  const timeOfRelease = action.action === "release" && kind === "share" ? "0" : undefined;
  return {
    status: statuses[action.action],
    put: { ...target, lease },
    headers: {
      "x-ms-lease-id": tellsId ? lease?.id : undefined,
      "x-ms-lease-time": leaseTimeSeconds === undefined ? timeOfRelease : String(leaseTimeSeconds),
    },
  };
}
