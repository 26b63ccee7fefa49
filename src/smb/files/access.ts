import { genericRights, Right } from "../../file/locks/access.ts";
import { Status, type NtStatus } from "../status.ts";

/** Access masks, in which CREATE has a bit for each right that it requests ([MS-SMB2] 2.2.13.1). A
 *  generic bit stands for several rights. */
const genericBits = 0xf000_0000;
/** Reserved bits; a request with one of them is invalid. */
const unknownBits = 0x0ce0_fe00;

/** An access mask without generic bits and MAXIMUM_ALLOWED. */
interface ResolvedAccess {
  readonly access: number;
  readonly wantsMaximum: boolean;
}

/** Replaces generic rights by specific ones; a status if the mask is invalid. */
export function resolveAccess(desired: number): ResolvedAccess | NtStatus {
  if (desired === 0 || (desired & unknownBits) !== 0) return Status.accessDenied;
  if ((desired & Right.systemSecurity) !== 0) return Status.privilegeNotHeld;
  let access = desired & ~genericBits & ~Right.maximumAllowed;
  for (const [bit, rights] of genericRights) if ((desired & bit) !== 0) access |= rights;
  return { access: access >>> 0, wantsMaximum: (desired & Right.maximumAllowed) !== 0 };
}

/** Whether an access mask contains at least one of the rights. */
export function has(access: number, rights: number): boolean {
  return (access & rights) !== 0;
}
