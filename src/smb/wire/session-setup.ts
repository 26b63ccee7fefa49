import { headerBytes } from "./header.ts";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

/** SESSION_SETUP ([MS-SMB2] 2.2.5, 2.2.6). */
export interface SessionSetupRequest {
  readonly binds: boolean;
  readonly securityMode: number;
  readonly token: Buffer;
  readonly previousSessionId: bigint;
}

const structureSize = 25;
const bindingFlag = 1;
const responseStructureSize = 9;
const responseFixedBytes = 8;

export function decodeSessionSetup(message: Buffer): SessionSetupRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === structureSize;
  const flags = reader.u8();
  const securityMode = reader.u8();
  reader.skip(8);
  const offset = reader.u16();
  const length = reader.u16();
  const previousSessionId = reader.u64();
  const token = reader.bytesAt(offset, length);
  const request = { binds: (flags & bindingFlag) !== 0, securityMode, token, previousSessionId };
  return isSizeValid ? reader.checked(request) : undefined;
}

export function encodeSessionSetupResponse(flags: number, token: Buffer): Buffer {
  return new Writer()
    .u16(responseStructureSize)
    .u16(flags)
    .u16(headerBytes + responseFixedBytes)
    .u16(token.length)
    .bytes(token)
    .finish();
}
