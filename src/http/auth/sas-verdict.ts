import { checkValidityPeriod } from "../../protocol/authentication-faults.ts";
import { sourceIpMismatch } from "../../protocol/faults.ts";
import type { Principal } from "../../protocol/principal.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import { isWithin, type AddressRange } from "./address-range.ts";
import type { AuthRequest } from "./request.ts";

/** A verified token: its principal, and the restrictions that are checked for each request. */
export interface SasVerdict {
  readonly principal: Principal;
  readonly start: Ticks | undefined;
  /** Undefined only if a stored policy supplies the expiry. */
  readonly expiry: Ticks | undefined;
  readonly addresses: AddressRange | undefined;
  readonly httpsOnly: boolean;
}

/** Checks time, client address and protocol of a request with a verified token. */
export function applyVerdict(verdict: SasVerdict, request: AuthRequest): Result<Principal> {
  const { start, expiry, addresses, principal } = verdict;
  if (expiry !== undefined || !awaitsPolicy(principal)) {
    const window = checkValidityPeriod({ start, expiry }, request.wallNow);
    if (!window.ok) return window;
  }
  if (verdict.httpsOnly && !request.secure) return fail("AuthorizationProtocolMismatch");
  if (addresses !== undefined && !isWithin(addresses, request.remoteAddress)) {
    return sourceIpMismatch(request.remoteAddress ?? "");
  }
  return ok(principal);
}

function awaitsPolicy(principal: Principal): boolean {
  return principal.kind === "service-sas" && principal.identifier !== undefined;
}
