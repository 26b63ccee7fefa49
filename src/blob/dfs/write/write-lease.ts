import { invalidHeader, missingHeader } from "../../../protocol/faults.ts";
import { applyLeaseAction, startLease, type Lease } from "../../../protocol/lease.ts";
import type { Param } from "../../../protocol/params.ts";
import { ok, type Result } from "../../../protocol/result.ts";
import { ticksFromSeconds, type Ticks } from "../../../base/ticks.ts";
import { newLease } from "../params.ts";

/** Lease actions that Append Data and Flush Data perform together with the write, so that a writer
 *  needs no extra requests. */

/** What an append or a flush does with the lease of the file, besides the write. */
type WriteLease =
  | { readonly action: "none" | "auto-renew" | "release" }
  | {
      readonly action: "acquire" | "acquire-release";
      readonly proposedId: string;
      readonly durationSeconds: number;
    };

const actionHeader = "x-ms-lease-action";

/** The parameter with the lease action of an append or flush. `release` and `acquire-release` end
 *  the lease after the write, so they are allowed only if it commits the data. */
export function writeLease(commits: boolean): Param<WriteLease> {
  return {
    sources: [actionHeader, ...newLease.sources],
    parse: (reader) => {
      const text = reader.header(actionHeader);
      if (text === undefined || text === "") return ok({ action: "none" });
      const action = text.toLowerCase();
      if (action === "auto-renew" || (action === "release" && commits)) {
        if (!reader.header("x-ms-lease-id")) return missingHeader("x-ms-lease-id");
        return ok({ action });
      }
      if (action !== "acquire" && !(action === "acquire-release" && commits)) {
        return invalidHeader(actionHeader, text);
      }
      const lease = newLease.parse(reader);
      if (!lease.ok) return lease;
      if (lease.value === undefined) return missingHeader("x-ms-proposed-lease-id");
      return ok({ action, proposedId: lease.value.id, durationSeconds: lease.value.seconds });
    },
  };
}

/** Whether a request renews its lease. Then the lease check accepts an expired one. */
export function renewsLease(input: object): boolean {
  return "lease" in input && (input.lease as WriteLease).action === "auto-renew";
}

/** Result of `leaseAfterWrite`. `renewed`: whether a requested renewal took place. */
export interface LeaseAfterWrite {
  readonly lease: Lease | undefined;
  readonly renewed?: boolean;
}

/** A lease is renewed only if at most this time is left. Recorded from Azure: a new lease of 15 s
 *  is renewed, one of 30 s is not. */
const renewalSecondsMax = 15;

/** The lease of the file after an append or flush, which the write stores. The lease id of the
 *  request was checked before. */
export function leaseAfterWrite(
  lease: Lease | undefined,
  change: WriteLease,
  now: Ticks,
): Result<LeaseAfterWrite> {
  switch (change.action) {
    case "none":
      return ok({ lease });
    case "release":
      return ok({ lease: undefined });
    case "auto-renew": {
      const end = lease?.expiresAt;
      const isDue = end !== undefined && end - now <= ticksFromSeconds(renewalSecondsMax);
      if (lease === undefined || !isDue) return ok({ lease, renewed: false });
      return ok({ lease: startLease(lease.id, lease.durationSeconds, now), renewed: true });
    }
    case "acquire":
    case "acquire-release": {
      const { proposedId, durationSeconds } = change;
      const action = { action: "acquire", proposedId, durationSeconds } as const;
      const moment = { kind: "blob", now, freshId: proposedId } as const;
      const acquired = applyLeaseAction(lease, action, moment);
      if (!acquired.ok) return acquired;
      return ok({ lease: change.action === "acquire" ? acquired.value.lease : undefined });
    }
  }
}

const leaseRenewedHeader = "x-ms-lease-renewed";

/** The response header that says whether the lease was renewed; none if not requested. */
export function leaseRenewed({ renewed }: LeaseAfterWrite) {
  return { [leaseRenewedHeader]: renewed === undefined ? undefined : String(renewed) };
}
