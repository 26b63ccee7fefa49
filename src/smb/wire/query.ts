import type { FileId } from "../response.ts";
import { headerBytes, readFileId } from "./header.ts";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

/** QUERY_DIRECTORY, CHANGE_NOTIFY, QUERY_INFO, SET_INFO ([MS-SMB2] 2.2.33 to 2.2.40). */

export interface QueryDirectoryRequest {
  readonly infoClass: number;
  readonly flags: number;
  readonly fileId: FileId;
  readonly pattern: string;
  readonly outputBytesMax: number;
}

export const DirectoryFlag = { restart: 1, single: 2, index: 4, reopen: 0x10 } as const;

export function decodeQueryDirectory(message: Buffer): QueryDirectoryRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === 33;
  const infoClass = reader.u8();
  const flags = reader.u8();
  reader.skip(4);
  const fileId = readFileId(reader);
  const nameOffset = reader.u16();
  const nameLength = reader.u16();
  const outputBytesMax = reader.u32();
  if (nameLength % 2 !== 0) return undefined;
  const pattern = reader.bytesAt(nameOffset, nameLength).toString("utf16le");
  const request = { infoClass, flags, fileId, pattern, outputBytesMax };
  return isSizeValid ? reader.checked(request) : undefined;
}

interface ChangeNotifyRequest {
  readonly watchesTree: boolean;
  readonly outputBytesMax: number;
  readonly fileId: FileId;
  readonly filter: number;
}

export function decodeChangeNotify(message: Buffer): ChangeNotifyRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === 32;
  const watchesTree = (reader.u16() & 1) !== 0;
  const outputBytesMax = reader.u32();
  const fileId = readFileId(reader);
  const filter = reader.u32();
  return isSizeValid ? reader.checked({ watchesTree, outputBytesMax, fileId, filter }) : undefined;
}

export const InfoType = { file: 1, fileSystem: 2, security: 3, quota: 4 } as const;

export interface QueryInfoRequest {
  readonly infoType: number;
  readonly infoClass: number;
  readonly outputBytesMax: number;
  readonly additional: number;
  readonly fileId: FileId;
  readonly input: Buffer;
}

export function decodeQueryInfo(message: Buffer): QueryInfoRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === 41;
  const infoType = reader.u8();
  const infoClass = reader.u8();
  const outputBytesMax = reader.u32();
  const inputOffset = reader.u16();
  reader.skip(2);
  const inputLength = reader.u32();
  const additional = reader.u32();
  reader.skip(4);
  const fileId = readFileId(reader);
  const input = reader.bytesAt(inputOffset, inputLength);
  const request = { infoType, infoClass, outputBytesMax, additional, fileId, input };
  return isSizeValid ? reader.checked(request) : undefined;
}

export interface SetInfoRequest {
  readonly infoType: number;
  readonly infoClass: number;
  readonly additional: number;
  readonly fileId: FileId;
  readonly data: Buffer;
}

export function decodeSetInfo(message: Buffer): SetInfoRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === 33;
  const infoType = reader.u8();
  const infoClass = reader.u8();
  const length = reader.u32();
  const offset = reader.u16();
  reader.skip(2);
  const additional = reader.u32();
  const fileId = readFileId(reader);
  const data = reader.bytesAt(offset, length);
  return isSizeValid
    ? reader.checked({ infoType, infoClass, additional, fileId, data })
    : undefined;
}

const responseStructureSize = 9;
const dataOffset = headerBytes + 8;

/** The response form of QUERY_DIRECTORY, QUERY_INFO and CHANGE_NOTIFY. */
export function encodeDataResponse(data: Buffer): Buffer {
  const writer = new Writer(16 + data.length)
    .u16(responseStructureSize)
    .u16(data.length === 0 ? 0 : dataOffset)
    .u32(data.length)
    .bytes(data);
  if (data.length === 0) writer.zeros(1);
  return writer.finish();
}

export function encodeSetInfoResponse(): Buffer {
  return new Writer(2).u16(2).finish();
}
