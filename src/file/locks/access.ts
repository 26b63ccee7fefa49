/** Bits of an SMB access mask ([MS-SMB2] 2.2.13.1) that share modes and caching depend on. */
export const readData = 0x1;
export const writeData = 0x2;
export const appendData = 0x4;
export const readAttributes = 0x80;
export const writeAttributes = 0x100;
export const executeFile = 0x20;
export const deleteAccess = 0x1_0000;
export const readControl = 0x2_0000;
export const synchronize = 0x10_0000;

/** Bits of a share mode: the access that an open permits to other opens. */
export const shareRead = 1;
export const shareWrite = 2;
export const shareDelete = 4;
export const shareAll = shareRead | shareWrite | shareDelete;

/** Which of reading, writing and deleting an access mask contains, in the bits of a share mode, so
 *  that both can be compared. */
export function dataAccess(access: number): number {
  const reads = (access & (readData | executeFile)) !== 0 ? shareRead : 0;
  const writes = (access & (writeData | appendData)) !== 0 ? shareWrite : 0;
  const deletes = (access & deleteAccess) !== 0 ? shareDelete : 0;
  return reads | writes | deletes;
}

const attributeBits = readAttributes | writeAttributes | synchronize;
const statBits = attributeBits | readControl;

/** Whether an open may only access attributes or read the security descriptor (stat open): it
 *  conflicts with no share mode and breaks no SMB lease. */
export function isStatOpen(access: number): boolean {
  return (access & ~statBits) === 0;
}

/** Whether an open breaks no oplock. Oplocks, unlike SMB leases, are also broken by an open with
 *  READ_CONTROL. */
export function isOplockStatOpen(access: number): boolean {
  return (access & ~attributeBits) === 0;
}
