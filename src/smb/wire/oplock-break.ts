import type { FileId } from "../response.ts";
import { readFileId, writeFileId } from "./file-id.ts";
import { headerBytes } from "./header.ts";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

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

export interface LeaseBreak {
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
