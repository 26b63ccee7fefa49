import { bodyDecoder, headerBytes, type Decoded } from "./header.ts";
import { Dialect } from "./protocol.ts";
import { Reader, Writer } from "./buffers.ts";

/** The bodies of NEGOTIATE, SESSION_SETUP and TREE_CONNECT, with which a client begins ([MS-SMB2]
 *  2.2.3 to 2.2.10). The handlers in `operations/` decode and encode them. */

/** A negotiate context: the algorithms of one kind that client or server supports ([MS-SMB2]
 *  2.2.3.1). */
export interface NegotiateContext {
  readonly type: number;
  readonly data: Buffer;
}

export const ContextType = { preauthIntegrity: 1, encryption: 2, signing: 8 } as const;

const dialectsMax = 64;
const contextsMax = 32;

export const decodeNegotiate = bodyDecoder(36, (reader, message) => {
  const dialectCount = reader.u16();
  const securityMode = reader.u16();
  const capabilities = reader.skip(2).u32();
  const clientGuid = Buffer.from(reader.bytes(16));
  const contextOffset = reader.u32();
  const contextCount = reader.u16();
  reader.skip(2);
  if (dialectCount === 0 || dialectCount > dialectsMax) return undefined;
  const dialects = Array.from({ length: dialectCount }, () => reader.u16());
  const fields = { securityMode, capabilities, clientGuid, dialects };
  // Negotiate contexts are read only from clients that support dialect 3.1.1, the only one that has
  // them.
  if (!dialects.includes(Dialect.v311)) return { ...fields, contexts: [] };
  if (contextOffset < reader.position) return undefined;
  const contexts = decodeContexts(message, contextOffset, contextCount);
  return contexts && { ...fields, contexts };
});
export type NegotiateRequest = Decoded<typeof decodeNegotiate>;

function decodeContexts(
  message: Buffer,
  offset: number,
  count: number,
): readonly NegotiateContext[] | undefined {
  if (count > contextsMax) return undefined;
  const reader = new Reader(message, offset);
  const contexts: NegotiateContext[] = [];
  for (let index = 0; index < count; index += 1) {
    reader.align(8);
    const type = reader.u16();
    const length = reader.u16();
    reader.skip(4);
    contexts.push({ type, data: reader.bytes(length) });
  }
  return reader.checked(contexts);
}

/** Decodes the ids of the algorithms that a negotiate context offers. Its fields are count, salt
 *  length (only of hashes), ids, salt. */
export function decodeAlgorithms(data: Buffer, hasSalt: boolean): readonly number[] | undefined {
  const reader = new Reader(data);
  const count = reader.u16();
  const saltLength = hasSalt ? reader.u16() : 0;
  if (count === 0 || count > dialectsMax) return undefined;
  const choices = Array.from({ length: count }, () => reader.u16());
  reader.skip(saltLength);
  return reader.checked(choices);
}

interface NegotiateResponse {
  readonly securityMode: number;
  readonly dialect: number;
  readonly serverGuid: Uint8Array;
  readonly capabilities: number;
  readonly transactBytesMax: number;
  readonly systemTime: bigint;
  readonly securityBuffer: Buffer;
  readonly contexts: readonly NegotiateContext[];
}

const negotiateFixedBytes = 64;

export function encodeNegotiateResponse(response: NegotiateResponse): Buffer {
  const { securityBuffer, contexts } = response;
  const bufferOffset = headerBytes + negotiateFixedBytes;
  const contextOffset =
    contexts.length === 0 ? 0 : Math.ceil((bufferOffset + securityBuffer.length) / 8) * 8;
  const writer = new Writer()
    .u16(65)
    .u16(response.securityMode)
    .u16(response.dialect)
    .u16(contexts.length)
    .bytes(response.serverGuid)
    .u32(response.capabilities)
    .u32(response.transactBytesMax)
    .u32(response.transactBytesMax)
    .u32(response.transactBytesMax)
    .u64(response.systemTime)
    .u64(0n)
    .u16(bufferOffset)
    .u16(securityBuffer.length)
    .u32(contextOffset)
    .bytes(securityBuffer);
  for (const { type, data } of contexts) {
    writer.align(8).u16(type).u16(data.length).u32(0).bytes(data);
  }
  return writer.finish();
}

const smb1HeaderBytes = 32;
const smb1Negotiate = 0x72;
const smb1DialectsMax = 64;

/** The names of the dialects that an SMB1 NEGOTIATE offers ([MS-SMB] 2.2.4.5.1); undefined if
 *  malformed. */
export function decodeSmb1Negotiate(message: Buffer): readonly string[] | undefined {
  if (message[4] !== smb1Negotiate) return undefined;
  const reader = new Reader(message, smb1HeaderBytes);
  const wordCount = reader.u8();
  const byteCount = reader.u16();
  const nameBytes = reader.bytes(byteCount);
  if (!reader.intact || wordCount !== 0) return undefined;
  const dialectNames = nameBytes
    .toString("latin1")
    .split("\0")
    .filter((name) => name.startsWith("\x02"));
  return dialectNames.length > smb1DialectsMax
    ? undefined
    : dialectNames.map((name) => name.slice(1));
}

const bindingFlag = 1;
const setupFixedBytes = 8;

export const decodeSessionSetup = bodyDecoder(25, (reader) => {
  const binds = (reader.u8() & bindingFlag) !== 0;
  const securityMode = reader.u8();
  const offset = reader.skip(8).u16();
  const length = reader.u16();
  const previousSessionId = reader.u64();
  return { binds, securityMode, previousSessionId, token: reader.bytesAt(offset, length) };
});
export type SessionSetupRequest = Decoded<typeof decodeSessionSetup>;

export function encodeSessionSetupResponse(flags: number, token: Buffer): Buffer {
  return new Writer()
    .u16(9)
    .u16(flags)
    .u16(headerBytes + setupFixedBytes)
    .u16(token.length)
    .bytes(token)
    .finish();
}

const extensionPresent = 4;

/** Decodes the path of TREE_CONNECT, which has the form `\\server\share`. */
export const decodeTreeConnect = bodyDecoder(9, (reader) => {
  const flags = reader.u16();
  const offset = reader.u16();
  const length = reader.u16();
  // Rejects messages with an extension, from whose end offsets would count: none is supported.
  if ((flags & extensionPresent) !== 0 || length % 2 !== 0) return undefined;
  return { path: reader.bytesAt(offset, length).toString("utf16le") };
});

interface TreeConnectResponse {
  readonly shareType: number;
  readonly shareFlags: number;
  readonly maximalAccess: number;
}

export function encodeTreeConnectResponse(response: TreeConnectResponse): Buffer {
  const writer = new Writer().u16(16).u8(response.shareType).u8(0).u32(response.shareFlags);
  return writer.u32(0).u32(response.maximalAccess).finish();
}
