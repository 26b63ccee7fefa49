import { headerBytes } from "./header.ts";
import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

/** TREE_CONNECT ([MS-SMB2] 2.2.9, 2.2.10). The path has the form `\\server\share`. */
export interface TreeConnectRequest {
  readonly path: string;
}

const structureSize = 9;
const responseStructureSize = 16;
const extensionPresent = 4;

export function decodeTreeConnect(message: Buffer): TreeConnectRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === structureSize;
  const flags = reader.u16();
  const offset = reader.u16();
  const length = reader.u16();
  // With an extension, offsets count from its end; none is supported.
  if ((flags & extensionPresent) !== 0 || length % 2 !== 0) return undefined;
  const path = reader.bytesAt(offset, length).toString("utf16le");
  return isSizeValid ? reader.checked({ path }) : undefined;
}

export interface TreeConnectResponse {
  readonly shareType: number;
  readonly shareFlags: number;
  readonly capabilities: number;
  readonly maximalAccess: number;
}

export function encodeTreeConnectResponse(response: TreeConnectResponse): Buffer {
  return new Writer()
    .u16(responseStructureSize)
    .u8(response.shareType)
    .u8(0)
    .u32(response.shareFlags)
    .u32(response.capabilities)
    .u32(response.maximalAccess)
    .finish();
}
