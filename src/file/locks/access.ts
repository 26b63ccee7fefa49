/** The access masks and share modes of SMB opens, which REST operations are compared with, too. */

/** Bits of an access mask, with which SMB clients request rights on a file ([MS-SMB2] 2.2.13.1). A
 *  REST operation counts as an open with an access mask, too (`file-access.ts`). */
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
  synchronize: 0x10_0000,
  systemSecurity: 0x100_0000,
  maximumAllowed: 0x200_0000,
} as const;

/** Generic rights (all, execute, write, read) with the rights of files that replace them. */
export const genericRights = [
  [0x1000_0000, 0x1f_01ff],
  [0x2000_0000, 0x12_00a0],
  [0x4000_0000, 0x12_0116],
  [0x8000_0000, 0x12_0089],
] as const;

/** Bits of a share mode: which access an open permits to other opens while it exists. */
export const shareRead = 1;
export const shareWrite = 2;
export const shareDelete = 4;
export const shareAll = shareRead | shareWrite | shareDelete;

/** Which of reading, writing and deleting an access mask contains, in the bits of a share mode: two
 *  opens conflict if one has a bit that the other does not share. */
export function dataAccess(access: number): number {
  const reads = (access & (Right.readData | Right.execute)) !== 0 ? shareRead : 0;
  const writes = (access & (Right.writeData | Right.appendData)) !== 0 ? shareWrite : 0;
  const deletes = (access & Right.delete) !== 0 ? shareDelete : 0;
  return reads | writes | deletes;
}

const attributeBits = Right.readAttributes | Right.writeAttributes | Right.synchronize;
const statBits = attributeBits | Right.readControl;

/** Whether an open may only access attributes or read the security descriptor (stat open): it
 *  conflicts with no share mode and breaks no SMB lease. */
export function isStatOpen(access: number): boolean {
  return (access & ~statBits) === 0;
}

/** Whether an open breaks no oplock. Narrower than `isStatOpen`: reading the security descriptor
 *  (READ_CONTROL) breaks oplocks, but not SMB leases. */
export function isOplockStatOpen(access: number): boolean {
  return (access & ~attributeBits) === 0;
}
