import type { FileId } from "../response.ts";
import { headerBytes, readFileId } from "./header.ts";
import { noFacts, writeTimes, type FileFacts } from "./file-facts.ts";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

/** CLOSE, FLUSH, READ and WRITE ([MS-SMB2] 2.2.15 to 2.2.22). */

const closeStructureSize = 24;
const closeResponseStructureSize = 60;
const ioStructureSize = 49;
const ioResponseStructureSize = 17;
const readDataOffset = 80;
const wantsFacts = 1;

interface CloseRequest {
  readonly wantsFacts: boolean;
  readonly fileId: FileId;
}

export function decodeClose(message: Buffer): CloseRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === closeStructureSize;
  const flags = reader.u16();
  reader.skip(4);
  const fileId = readFileId(reader);
  return isSizeValid
    ? reader.checked({ wantsFacts: (flags & wantsFacts) !== 0, fileId })
    : undefined;
}

export function encodeCloseResponse(facts: FileFacts | undefined): Buffer {
  const sent = facts ?? noFacts;
  const writer = new Writer()
    .u16(closeResponseStructureSize)
    .u16(facts === undefined ? 0 : wantsFacts)
    .u32(0);
  return writeTimes(writer, sent).u64(sent.allocated).u64(sent.size).u32(sent.attributes).finish();
}

export function decodeFlush(message: Buffer): FileId | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === closeStructureSize;
  reader.skip(6);
  const fileId = readFileId(reader);
  return isSizeValid ? reader.checked(fileId) : undefined;
}

export interface ReadRequest {
  readonly length: number;
  readonly offset: bigint;
  readonly fileId: FileId;
  readonly minimum: number;
}

export function decodeRead(message: Buffer): ReadRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === ioStructureSize;
  reader.skip(2);
  const length = reader.u32();
  const offset = reader.u64();
  const fileId = readFileId(reader);
  const minimum = reader.u32();
  return isSizeValid ? reader.checked({ length, offset, fileId, minimum }) : undefined;
}

/** A READ response, and its data buffer for the caller to fill. Saves one copy per READ. */
export function newReadResponse(dataLength: number): { message: Buffer; data: Buffer } {
  const message = Buffer.allocUnsafe(readDataOffset + Math.max(1, dataLength));
  message.fill(0, headerBytes, readDataOffset + 1);
  message.writeUInt16LE(ioResponseStructureSize, headerBytes);
  message[headerBytes + 2] = readDataOffset;
  message.writeUInt32LE(dataLength, headerBytes + 4);
  return { message, data: message.subarray(readDataOffset, readDataOffset + dataLength) };
}

export interface WriteRequest {
  readonly offset: bigint;
  readonly fileId: FileId;
  readonly data: Buffer;
  readonly flags: number;
}

export function decodeWrite(message: Buffer): WriteRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === ioStructureSize;
  const dataOffset = reader.u16();
  const length = reader.u32();
  const offset = reader.u64();
  const fileId = readFileId(reader);
  reader.skip(12);
  const flags = reader.u32();
  const data = reader.bytesAt(dataOffset, length);
  return isSizeValid ? reader.checked({ offset, fileId, data, flags }) : undefined;
}

export function encodeWriteResponse(count: number): Buffer {
  return new Writer().u16(ioResponseStructureSize).u16(0).u32(count).zeros(9).finish();
}
