import type { FileId } from "../response.ts";
import { readFileId } from "./file-id.ts";
import { headerBytes } from "./header.ts";
import { Reader } from "./reader.ts";

/** LOCK ([MS-SMB2] 2.2.26). */
export interface LockMessage {
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
