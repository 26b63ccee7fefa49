import type { FileId } from "../response.ts";
import { headerBytes, readFileId, writeFileId } from "./header.ts";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

/** IOCTL ([MS-SMB2] 2.2.31, 2.2.32). */
export interface IoctlRequest {
  readonly code: number;
  readonly fileId: FileId;
  readonly input: Buffer;
  readonly outputBytesMax: number;
  readonly isFileSystemControl: boolean;
}

const structureSize = 57;
const responseStructureSize = 49;
const bufferOffset = headerBytes + 48;

export function decodeIoctl(message: Buffer): IoctlRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === structureSize;
  reader.skip(2);
  const code = reader.u32();
  const fileId = readFileId(reader);
  const inputOffset = reader.u32();
  const inputLength = reader.u32();
  reader.skip(12);
  const outputBytesMax = reader.u32();
  const isFileSystemControl = (reader.u32() & 1) !== 0;
  const input = reader.bytesAt(inputOffset, inputLength);
  const request = { code, fileId, input, outputBytesMax, isFileSystemControl };
  return isSizeValid ? reader.checked(request) : undefined;
}

export function encodeIoctlResponse(code: number, fileId: FileId, output: Buffer): Buffer {
  const writer = new Writer(48 + output.length).u16(responseStructureSize).u16(0).u32(code);
  return writeFileId(writer, fileId)
    .u32(bufferOffset)
    .u32(0)
    .u32(bufferOffset)
    .u32(output.length)
    .u64(0n)
    .bytes(output)
    .finish();
}
