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

/** TREE_CONNECT ([MS-SMB2] 2.2.9, 2.2.10). The path has the form `\\server\share`. */
interface TreeConnectRequest {
  readonly path: string;
}

const treeStructureSize = 9;
const treeResponseStructureSize = 16;
const extensionPresent = 4;

export function decodeTreeConnect(message: Buffer): TreeConnectRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === treeStructureSize;
  const flags = reader.u16();
  const offset = reader.u16();
  const length = reader.u16();
  // With an extension, offsets count from its end; none is supported.
  if ((flags & extensionPresent) !== 0 || length % 2 !== 0) return undefined;
  const path = reader.bytesAt(offset, length).toString("utf16le");
  return isSizeValid ? reader.checked({ path }) : undefined;
}

interface TreeConnectResponse {
  readonly shareType: number;
  readonly shareFlags: number;
  readonly capabilities: number;
  readonly maximalAccess: number;
}

export function encodeTreeConnectResponse(response: TreeConnectResponse): Buffer {
  return new Writer()
    .u16(treeResponseStructureSize)
    .u8(response.shareType)
    .u8(0)
    .u32(response.shareFlags)
    .u32(response.capabilities)
    .u32(response.maximalAccess)
    .finish();
}
