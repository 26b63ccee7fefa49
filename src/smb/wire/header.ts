import { HeaderFlag } from "./protocol.ts";
import type { FileId } from "../request.ts";
import { Reader, type Writer } from "./buffers.ts";
import { fileTimeStart, type Ticks } from "../../base/ticks.ts";

/** What all SMB messages have in common: the 64-byte header ([MS-SMB2] 2.2.1), the StructureSize
 *  that every body begins with, the FileId, and the facts about a file. */

/** The header of a request; `decodeHeader` reads it. */
export interface Header {
  readonly creditCharge: number;
  /** Counts how often the client has lost a channel; from dialect 3.0 on (`countRequest`). */
  readonly channelSequence: number;
  readonly command: number;
  readonly creditRequest: number;
  readonly flags: number;
  readonly nextCommand: number;
  readonly messageId: bigint;
  /** Valid only with the ASYNC flag; without it the same bytes contain the TreeId. */
  readonly asyncId: bigint;
  readonly treeId: number;
  readonly sessionId: bigint;
}

export const headerBytes = 64;
export const smb2Magic = 0x424d53fe;
export const smb1Magic = 0x424d53ff;
export const encryptedMagic = 0x424d53fd;

/** Decodes the header of a request; undefined if the message is too short or is not one of SMB 2 or
 *  3. */
export function decodeHeader(message: Buffer): Header | undefined {
  if (message.length < headerBytes) return undefined;
  if (message.readUInt32LE(0) !== smb2Magic || message.readUInt16LE(4) !== headerBytes) {
    return undefined;
  }
  return {
    creditCharge: message.readUInt16LE(6),
    channelSequence: message.readUInt16LE(8),
    command: message.readUInt16LE(12),
    creditRequest: message.readUInt16LE(14),
    flags: message.readUInt32LE(16),
    nextCommand: message.readUInt32LE(20),
    messageId: message.readBigUInt64LE(24),
    asyncId: message.readBigUInt64LE(32),
    treeId: message.readUInt32LE(36),
    sessionId: message.readBigUInt64LE(40),
  };
}

interface ResponseHeader {
  readonly creditCharge: number;
  readonly status: number;
  readonly command: number;
  readonly credits: number;
  readonly flags: number;
  readonly messageId: bigint;
  readonly asyncId: bigint | undefined;
  readonly treeId: number;
  readonly sessionId: bigint;
}

/** Header fields of a message that is not the response to an SMB 2 request: a break notification,
 *  or the response to an SMB1 NEGOTIATE. The sender adds command and MessageId. */
export const unsolicitedHeader = {
  creditCharge: 0,
  status: 0,
  credits: 0,
  flags: 0,
  asyncId: undefined,
  treeId: 0,
  sessionId: 0n,
} as const;

/** Writes a response header into the first 64 bytes; the signature is left zero. */
export function encodeHeader(message: Buffer, header: ResponseHeader): void {
  const isAsync = header.asyncId !== undefined;
  message.writeUInt32LE(smb2Magic, 0);
  message.writeUInt16LE(headerBytes, 4);
  message.writeUInt16LE(header.creditCharge, 6);
  message.writeUInt32LE(header.status >>> 0, 8);
  message.writeUInt16LE(header.command, 12);
  message.writeUInt16LE(header.credits, 14);
  const flags = header.flags | HeaderFlag.response | (isAsync ? HeaderFlag.async : 0);
  message.writeUInt32LE(flags >>> 0, 16);
  message.writeUInt32LE(0, 20);
  message.writeBigUInt64LE(header.messageId, 24);
  if (header.asyncId === undefined) {
    message.writeUInt32LE(0xfeff, 32);
    message.writeUInt32LE(header.treeId, 36);
  } else {
    message.writeBigUInt64LE(header.asyncId, 32);
  }
  message.writeBigUInt64LE(header.sessionId, 40);
  message.fill(0, 48, headerBytes);
}

/** Makes the decoder of a request body from the function that reads the fields after StructureSize.
 *  The decoder takes the whole message, and returns undefined if the body has another StructureSize
 *  or ends too early, or if `read` finds it malformed. */
export function bodyDecoder<T>(
  structureSize: number,
  read: (reader: Reader, message: Buffer) => T | undefined,
): (message: Buffer) => T | undefined {
  return (message) => {
    const reader = new Reader(message, headerBytes);
    if (reader.u16() !== structureSize) return undefined;
    return reader.checked(read(reader, message));
  };
}

/** The type of the request body that a decoder returns. */
export type Decoded<D extends (message: Buffer) => unknown> = NonNullable<ReturnType<D>>;

export function readFileId(reader: Reader): FileId {
  return { persistent: reader.u64(), volatile: reader.u64() };
}

export function writeFileId(writer: Writer, { persistent, volatile }: FileId): Writer {
  return writer.u64(persistent).u64(volatile);
}

const allOnes = 0xffff_ffff_ffff_ffffn;

/** Whether this is the FileId (all ones) of an IOCTL that concerns no file. */
export function isNoFile({ persistent, volatile }: FileId): boolean {
  return persistent === allOnes && volatile === allOnes;
}

/** Times (as FILETIME), sizes (in bytes) and attributes of a file, as the responses to CREATE and
 *  CLOSE and several information classes contain them. */
export interface FileFacts {
  readonly created: bigint;
  readonly accessed: bigint;
  readonly written: bigint;
  readonly changed: bigint;
  readonly allocated: bigint;
  readonly size: bigint;
  readonly attributes: number;
}

/** Zeros, for pipes, and for CLOSE if the client wants no facts or the file is gone. */
export const noFacts: FileFacts = {
  created: 0n,
  accessed: 0n,
  written: 0n,
  changed: 0n,
  allocated: 0n,
  size: 0n,
  attributes: 0,
};

export function writeTimes(writer: Writer, facts: FileFacts): Writer {
  return writer.u64(facts.created).u64(facts.accessed).u64(facts.written).u64(facts.changed);
}

/** Writes all facts in the order of the responses to CREATE and CLOSE. */
export function writeFacts(writer: Writer, facts: FileFacts): Writer {
  return writeTimes(writer, facts).u64(facts.allocated).u64(facts.size).u32(facts.attributes);
}

/** The FILETIME of a store time. FILETIME begins in 1601; earlier times become 0. */
export function fileTimeOf(ticks: Ticks): bigint {
  return ticks <= fileTimeStart ? 0n : ticks - fileTimeStart;
}

/** The store time of a FILETIME that a client sends, to set times or to name a share snapshot. */
export function ticksOfFileTime(fileTime: bigint): Ticks {
  return fileTime + fileTimeStart;
}
