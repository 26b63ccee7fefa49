import { HeaderFlag } from "./protocol.ts";
import type { FileId } from "../response.ts";
import type { Reader } from "./reader.ts";
import type { Writer } from "./writer.ts";

/** The 64-byte header of a request ([MS-SMB2] 2.2.1). */
export interface Header {
  readonly creditCharge: number;
  /** Exists from dialect 3.0 on; see files/lookup.ts. */
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

export function readFileId(reader: Reader): FileId {
  return { persistent: reader.u64(), volatile: reader.u64() };
}

export function writeFileId(writer: Writer, { persistent, volatile }: FileId): Writer {
  return writer.u64(persistent).u64(volatile);
}

const allOnes = 0xffff_ffff_ffff_ffffn;

/** Whether this is the FileId of requests without a file, such as some IOCTLs. */
export function isNoFile({ persistent, volatile }: FileId): boolean {
  return persistent === allOnes && volatile === allOnes;
}
