import { Reader } from "./reader.ts";
import { headerBytes } from "./header.ts";
import { Dialect } from "./protocol.ts";
import { Writer } from "./writer.ts";

/** NEGOTIATE ([MS-SMB2] 2.2.3, 2.2.4). */
export interface NegotiateRequest {
  readonly securityMode: number;
  readonly capabilities: number;
  readonly clientGuid: Buffer;
  readonly dialects: readonly number[];
  /** Empty unless 3.1.1 is among the dialects. */
  readonly contexts: readonly NegotiateContext[];
}

export interface NegotiateContext {
  readonly type: number;
  readonly data: Buffer;
}

export const ContextType = { preauthIntegrity: 1, encryption: 2, compression: 3, signing: 8 };

const structureSize = 36;
const responseStructureSize = 65;
const fixedResponseBytes = 64;
const dialectsMax = 64;
const contextsMax = 32;

export function decodeNegotiate(message: Buffer): NegotiateRequest | undefined {
  const reader = new Reader(message, headerBytes);
  const isSizeValid = reader.u16() === structureSize;
  const dialectCount = reader.u16();
  const securityMode = reader.u16();
  reader.skip(2);
  const capabilities = reader.u32();
  const clientGuid = Buffer.from(reader.bytes(16));
  const contextOffset = reader.u32();
  const contextCount = reader.u16();
  reader.skip(2);
  if (!isSizeValid || dialectCount === 0 || dialectCount > dialectsMax) return undefined;
  const dialects = Array.from({ length: dialectCount }, () => reader.u16());
  if (!reader.intact) return undefined;
  const { position } = reader;
  const fields = { securityMode, capabilities, clientGuid, dialects };
  if (!dialects.includes(Dialect.v311)) return { ...fields, contexts: [] };
  if (contextOffset < position) return undefined;
  const contexts = decodeContexts(message, contextOffset, contextCount);
  return contexts === undefined ? undefined : { ...fields, contexts };
}

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

/** Decodes the algorithm ids of a context: count, optional salt length, ids, salt. */
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

export function encodeNegotiateResponse(response: NegotiateResponse): Buffer {
  const { securityBuffer, contexts } = response;
  const bufferOffset = headerBytes + fixedResponseBytes;
  const contextOffset =
    contexts.length === 0 ? 0 : Math.ceil((bufferOffset + securityBuffer.length) / 8) * 8;
  const writer = new Writer()
    .u16(responseStructureSize)
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
