import { Status, type NtStatus } from "../status.ts";

/** Access mask bits ([MS-SMB2] 2.2.13.1). */
export const Right = {
  readData: 0x1,
  writeData: 0x2,
  appendData: 0x4,
  execute: 0x20,
  readAttributes: 0x80,
  writeAttributes: 0x100,
  delete: 0x1_0000,
  readControl: 0x2_0000,
  writeDac: 0x4_0000,
  writeOwner: 0x8_0000,
  systemSecurity: 0x100_0000,
  maximumAllowed: 0x200_0000,
} as const;

const genericRights = [
  [0x1000_0000, 0x001f_01ff],
  [0x2000_0000, 0x0012_00a0],
  [0x4000_0000, 0x0012_0116],
  [0x8000_0000, 0x0012_0089],
] as const;
const genericBits = 0xf000_0000;
/** Reserved bits, which make a request invalid. */
const unknownBits = 0x0ce0_fe00;

/** An access mask without generic bits and MAXIMUM_ALLOWED. */
export interface ResolvedAccess {
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
