import type { FileId } from "../response.ts";
import { headerBytes, readFileId, writeFileId } from "./header.ts";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

/** LOCK ([MS-SMB2] 2.2.26). */
interface LockMessage {
  readonly sequence: number;
  readonly fileId: FileId;
  readonly elements: readonly LockElement[];
}

export interface LockElement {
  readonly offset: bigint;
  readonly length: bigint;
  readonly flags: number;
}

export const LockFlag = { shared: 1, exclusive: 2, unlock: 4, failImmediately: 0x10 } as const;

const structureSize = 48;
const elementBytes = 24;

export function decodeLock(message: Buffer): LockMessage | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === structureSize;
  const count = reader.u16();
  const sequence = reader.u32();
  const fileId = readFileId(reader);
  if (!isSizeValid || count === 0 || reader.remaining < count * elementBytes) return undefined;
  const elements = Array.from({ length: count }, () => {
    const element = { offset: reader.u64(), length: reader.u64(), flags: reader.u32() };
    reader.skip(4);
    return element;
  });
  return reader.checked({ sequence, fileId, elements });
}

/** OPLOCK_BREAK in its two forms, for oplocks and for leases ([MS-SMB2] 2.2.23 to 2.2.25). */
export type BreakAcknowledgement =
  | { readonly kind: "oplock"; readonly level: number; readonly fileId: FileId }
  | { readonly kind: "lease"; readonly key: Buffer; readonly state: number };

const oplockStructureSize = 24;
const leaseStructureSize = 36;
const leaseNotificationSize = 44;
const acknowledgementRequired = 1;

export function decodeBreak(message: Buffer): BreakAcknowledgement | undefined {
  const reader = new Reader(message, headerBytes);
  const size = reader.u16();
  if (size === oplockStructureSize) {
    const level = reader.u8();
    reader.skip(5);
    return reader.checked({ kind: "oplock", level, fileId: readFileId(reader) });
  }
  if (size !== leaseStructureSize) return undefined;
  reader.skip(6);
  const key = Buffer.from(reader.bytes(16));
  return reader.checked({ kind: "lease", key, state: reader.u32() });
}

/** Encodes the notification of an oplock break, and the response to its acknowledgement, which has
 *  the same form. */
export function encodeOplockBreak(level: number, fileId: FileId): Buffer {
  const writer = new Writer(oplockStructureSize).u16(oplockStructureSize).u8(level).zeros(5);
  return writeFileId(writer, fileId).finish();
}

export function encodeLeaseBreakResponse(key: Buffer, state: number): Buffer {
  return new Writer(leaseStructureSize)
    .u16(leaseStructureSize)
    .zeros(6)
    .bytes(key)
    .u32(state)
    .u64(0n)
    .finish();
}

interface LeaseBreak {
  readonly key: Buffer;
  readonly current: number;
  readonly next: number;
  /** Lease epoch; 0 for version 1 leases. */
  readonly epoch: number;
  readonly needsAcknowledgement: boolean;
}

export function encodeLeaseBreak({
  key,
  current,
  next,
  epoch,
  needsAcknowledgement,
}: LeaseBreak): Buffer {
  return new Writer(leaseNotificationSize)
    .u16(leaseNotificationSize)
    .u16(epoch)
    .u32(needsAcknowledgement ? acknowledgementRequired : 0)
    .bytes(key)
    .u32(current)
    .u32(next)
    .zeros(12)
    .finish();
}
