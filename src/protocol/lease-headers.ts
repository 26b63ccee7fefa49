import { leaseProperties, type Lease } from "./lease.ts";
import type { Ticks } from "../base/ticks.ts";

export const leaseHeaderNames = [
  "x-ms-lease-status",
  "x-ms-lease-state",
  "x-ms-lease-duration",
] as const;

export function leaseHeaders(lease: Lease | undefined, now: Ticks) {
  const { status, state, duration } = leaseProperties(lease, now);
  return {
    "x-ms-lease-status": status,
    "x-ms-lease-state": state,
    "x-ms-lease-duration": duration,
  };
}
