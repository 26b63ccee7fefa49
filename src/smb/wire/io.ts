import type { FileId } from "../request.ts";
import {
  bodyDecoder,
  headerBytes,
  readFileId,
  writeFileId,
  type Decoded,
  noFacts,
  writeFacts,
  type FileFacts,
} from "./header.ts";
import { Reader, Writer } from "./buffers.ts";

/** The bodies of the commands on an open file, directory or pipe: first CLOSE, FLUSH, READ, WRITE,
 *  LOCK, IOCTL and OPLOCK_BREAK ([MS-SMB2] 2.2.15 to 2.2.32), then those that query, list and set
 *  (2.2.33 to 2.2.40). The handlers in `operations/` decode and encode them. */

const wantsFacts = 1;

export const decodeClose = bodyDecoder(24, (reader) => {
  const flags = reader.u16();
  reader.skip(4);
  return { wantsFacts: (flags & wantsFacts) !== 0, fileId: readFileId(reader) };
});

/** `facts`: undefined if the client does not want them, or if the closed file no longer exists. */
export function encodeCloseResponse(facts: FileFacts | undefined): Buffer {
  const writer = new Writer()
    .u16(60)
    .u16(facts === undefined ? 0 : wantsFacts)
    .u32(0);
  return writeFacts(writer, facts ?? noFacts).finish();
}

export const decodeFlush = bodyDecoder(24, (reader) => readFileId(reader.skip(6)));

export const decodeRead = bodyDecoder(49, (reader) => ({
  length: reader.skip(2).u32(),
  offset: reader.u64(),
  fileId: readFileId(reader),
  minimum: reader.u32(),
}));
export type ReadRequest = Decoded<typeof decodeRead>;

const ioResponseSize = 17;
const readDataOffset = 80;

/** A READ response with an empty part `data`, into which the caller reads the bytes: to encode them
 *  afterwards would copy them once more. */
export function newReadResponse(dataLength: number): { message: Buffer; data: Buffer } {
  const message = Buffer.allocUnsafe(readDataOffset + Math.max(1, dataLength));
  message.fill(0, headerBytes, readDataOffset + 1);
  message.writeUInt16LE(ioResponseSize, headerBytes);
  message[headerBytes + 2] = readDataOffset;
  message.writeUInt32LE(dataLength, headerBytes + 4);
  return { message, data: message.subarray(readDataOffset, readDataOffset + dataLength) };
}

export const decodeWrite = bodyDecoder(49, (reader) => {
  const dataOffset = reader.u16();
  const length = reader.u32();
  const offset = reader.u64();
  const fileId = readFileId(reader);
  return { offset, fileId, data: reader.skip(16).bytesAt(dataOffset, length) };
});
export type WriteRequest = Decoded<typeof decodeWrite>;

export function encodeWriteResponse(count: number): Buffer {
  return new Writer().u16(ioResponseSize).u16(0).u32(count).zeros(9).finish();
}

export const LockFlag = { shared: 1, exclusive: 2, unlock: 4, failImmediately: 0x10 } as const;

const lockElementBytes = 24;

export const decodeLock = bodyDecoder(48, (reader) => {
  const count = reader.u16();
  const sequence = reader.u32();
  const fileId = readFileId(reader);
  if (count === 0 || reader.remaining < count * lockElementBytes) return undefined;
  const elements = Array.from({ length: count }, () => {
    const element = { offset: reader.u64(), length: reader.u64(), flags: reader.u32() };
    reader.skip(4);
    return element;
  });
  return { sequence, fileId, elements };
});
export type LockElement = Decoded<typeof decodeLock>["elements"][number];

export const decodeIoctl = bodyDecoder(57, (reader) => {
  const code = reader.skip(2).u32();
  const fileId = readFileId(reader);
  const inputOffset = reader.u32();
  const inputLength = reader.u32();
  const outputBytesMax = reader.skip(12).u32();
  const isFileSystemControl = (reader.u32() & 1) !== 0;
  const input = reader.bytesAt(inputOffset, inputLength);
  return { code, fileId, input, outputBytesMax, isFileSystemControl };
});
export type IoctlRequest = Decoded<typeof decodeIoctl>;

const ioctlFixedBytes = 48;
const ioctlBufferOffset = headerBytes + ioctlFixedBytes;

export function encodeIoctlResponse(
  { code, fileId }: Pick<IoctlRequest, "code" | "fileId">,
  output: Buffer,
): Buffer {
  const writer = new Writer(ioctlFixedBytes + output.length).u16(49).u16(0).u32(code);
  return writeFileId(writer, fileId)
    .u32(ioctlBufferOffset)
    .u32(0)
    .u32(ioctlBufferOffset)
    .u32(output.length)
    .u64(0n)
    .bytes(output)
    .finish();
}

/** With which a client acknowledges the break of an oplock or SMB lease ([MS-SMB2] 2.2.24). */
export type BreakAcknowledgement =
  | { readonly kind: "oplock"; readonly level: number; readonly fileId: FileId }
  | { readonly kind: "lease"; readonly key: Buffer; readonly state: number };

const oplockBreakSize = 24;
const leaseBreakSize = 36;
const leaseNotificationSize = 44;
const acknowledgementRequired = 1;

/** Decodes an acknowledgement; the two forms differ in their StructureSize. */
export function decodeBreak(message: Buffer): BreakAcknowledgement | undefined {
  const reader = new Reader(message, headerBytes);
  const size = reader.u16();
  if (size === oplockBreakSize) {
    const level = reader.u8();
    reader.skip(5);
    return reader.checked({ kind: "oplock", level, fileId: readFileId(reader) });
  }
  if (size !== leaseBreakSize) return undefined;
  const key = Buffer.from(reader.skip(6).bytes(16));
  return reader.checked({ kind: "lease", key, state: reader.u32() });
}

/** Encodes the notification of an oplock break, and the response to its acknowledgement, which has
 *  the same form. */
export function encodeOplockBreak(level: number, fileId: FileId): Buffer {
  const writer = new Writer(oplockBreakSize).u16(oplockBreakSize).u8(level).zeros(5);
  return writeFileId(writer, fileId).finish();
}

export function encodeLeaseBreakResponse(key: Buffer, state: number): Buffer {
  const writer = new Writer(leaseBreakSize).u16(leaseBreakSize).zeros(6);
  return writer.bytes(key).u32(state).u64(0n).finish();
}

/** The notification that an SMB lease is reduced from `current` to `next`. */
interface LeaseBreak {
  readonly key: Buffer;
  readonly current: number;
  readonly next: number;
  /** Lease epoch; 0 for version 1 leases. */
  readonly epoch: number;
  readonly needsAcknowledgement: boolean;
}

export function encodeLeaseBreak(notification: LeaseBreak): Buffer {
  const { key, current, next, epoch, needsAcknowledgement } = notification;
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

export const DirectoryFlag = { restart: 1, single: 2, reopen: 0x10 } as const;

export const decodeQueryDirectory = bodyDecoder(33, (reader) => {
  const infoClass = reader.u8();
  const flags = reader.u8();
  const fileId = readFileId(reader.skip(4));
  const nameOffset = reader.u16();
  const nameLength = reader.u16();
  const outputBytesMax = reader.u32();
  if (nameLength % 2 !== 0) return undefined;
  const pattern = reader.bytesAt(nameOffset, nameLength).toString("utf16le");
  return { infoClass, flags, fileId, pattern, outputBytesMax };
});
export type QueryDirectoryRequest = Decoded<typeof decodeQueryDirectory>;

export const decodeChangeNotify = bodyDecoder(32, (reader) => ({
  watchesTree: (reader.u16() & 1) !== 0,
  outputBytesMax: reader.u32(),
  fileId: readFileId(reader),
  filter: reader.u32(),
}));

export const InfoType = { file: 1, fileSystem: 2, security: 3, quota: 4 } as const;

export const decodeQueryInfo = bodyDecoder(41, (reader) => {
  const infoType = reader.u8();
  const infoClass = reader.u8();
  const outputBytesMax = reader.u32();
  const inputOffset = reader.u16();
  const inputLength = reader.skip(2).u32();
  const additional = reader.u32();
  const fileId = readFileId(reader.skip(4));
  const input = reader.bytesAt(inputOffset, inputLength);
  return { infoType, infoClass, outputBytesMax, additional, fileId, input };
});
export type QueryInfoRequest = Decoded<typeof decodeQueryInfo>;

export const decodeSetInfo = bodyDecoder(33, (reader) => {
  const infoType = reader.u8();
  const infoClass = reader.u8();
  const length = reader.u32();
  const offset = reader.u16();
  const additional = reader.skip(2).u32();
  const fileId = readFileId(reader);
  return { infoType, infoClass, additional, fileId, data: reader.bytesAt(offset, length) };
});
export type SetInfoRequest = Decoded<typeof decodeSetInfo>;

const dataOffset = headerBytes + 8;

/** The body of responses to QUERY_DIRECTORY, QUERY_INFO and CHANGE_NOTIFY. */
export function encodeDataResponse(data: Buffer): Buffer {
  const writer = new Writer(16 + data.length)
    .u16(9)
    .u16(data.length === 0 ? 0 : dataOffset)
    .u32(data.length)
    .bytes(data);
  if (data.length === 0) writer.zeros(1);
  return writer.finish();
}

export function encodeSetInfoResponse(): Buffer {
  return new Writer(2).u16(2).finish();
}
