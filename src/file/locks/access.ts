/** Bits of an SMB access mask that locking looks at ([MS-SMB2] 2.2.13.1). */
export const readData = 0x1;
export const writeData = 0x2;
export const appendData = 0x4;
export const readAttributes = 0x80;
export const writeAttributes = 0x100;
export const executeFile = 0x20;
export const deleteAccess = 0x1_0000;
export const readControl = 0x2_0000;
export const synchronize = 0x10_0000;

/** What a share mode allows others, and what an access mask means to it. */
export const shareRead = 1;
export const shareWrite = 2;
export const shareDelete = 4;
export const shareAll = shareRead | shareWrite | shareDelete;

/** The part of an access mask that share modes speak of, in the bits of a share mode. */
export function dataAccess(access: number): number {
  const reads = (access & (readData | executeFile)) !== 0 ? shareRead : 0;
  const writes = (access & (writeData | appendData)) !== 0 ? shareWrite : 0;
  const deletes = (access & deleteAccess) !== 0 ? shareDelete : 0;
  return reads | writes | deletes;
}

const attributeBits = readAttributes | writeAttributes | synchronize;
const statBits = attributeBits | readControl;

/** An open that only looks at attributes breaks nothing and is nobody's business. */
export function isStatOpen(access: number): boolean {
  return (access & ~statBits) === 0;
}

/** Oplocks are older than leases, and asking who may do what still breaks them. */
export function isOplockStatOpen(access: number): boolean {
  return (access & ~attributeBits) === 0;
}
