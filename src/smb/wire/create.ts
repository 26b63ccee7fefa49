import type { FileId } from "../request.ts";
import {
  bodyDecoder,
  headerBytes,
  readFileId,
  writeFileId,
  type Decoded,
  writeFacts,
  type FileFacts,
} from "./header.ts";
import { Reader, Writer } from "./buffers.ts";

/** The bodies of CREATE ([MS-SMB2] 2.2.13, 2.2.14), with the create contexts that this server
 *  supports. Used by `smb/operations/create.ts` and `smb/files/`. */

export const decodeCreate = bodyDecoder(57, (reader) => {
  const oplock = reader.skip(1).u8();
  const impersonation = reader.u32();
  const access = reader.skip(16).u32();
  const attributes = reader.u32();
  const share = reader.u32();
  const disposition = reader.u32();
  const options = reader.u32();
  const nameOffset = reader.u16();
  const nameLength = reader.u16();
  const contextOffset = reader.u32();
  const contextLength = reader.u32();
  const nameBytes = reader.bytesAt(nameOffset, nameLength);
  const contexts = decodeContexts(reader.bytesAt(contextOffset, contextLength));
  if (contexts === undefined || nameLength % 2 !== 0) return undefined;
  const name = nameBytes.toString("utf16le");
  const rights = { impersonation, access, share };
  return { oplock, ...rights, attributes, disposition, options, name, contexts };
});
export type CreateRequest = Decoded<typeof decodeCreate>;

interface CreateResponse {
  readonly oplock: number;
  readonly action: number;
  readonly facts: FileFacts;
  readonly fileId: FileId;
  readonly contexts: readonly CreateContext[];
}

const responseFixedBytes = 88;

export function encodeCreateResponse(response: CreateResponse): Buffer {
  const contextBytes = encodeContexts(response.contexts);
  const writer = new Writer().u16(89).u8(response.oplock).u8(0).u32(response.action);
  writeFacts(writer, response.facts).u32(0);
  writeFileId(writer, response.fileId)
    .u32(contextBytes.length === 0 ? 0 : headerBytes + responseFixedBytes)
    .u32(contextBytes.length)
    .bytes(contextBytes);
  if (contextBytes.length === 0) writer.zeros(1);
  return writer.finish();
}

/** What a CREATE did to the file (CreateAction), from its response, for audit log and feed. */
export function actionIn(response: Buffer): number {
  return response.readUInt32LE(headerBytes + 4);
}

/** A create context: an optional part of a CREATE request or response, with which for example a
 *  lease is requested ([MS-SMB2] 2.2.13.2). */
export interface CreateContext {
  /** The kind of context: 4 ASCII characters, or the 16 bytes of a GUID as Latin-1. */
  readonly name: string;
  readonly data: Buffer;
}

export const ContextName = {
  extendedAttributes: "ExtA",
  securityDescriptor: "SecD",
  durable: "DHnQ",
  durableReconnect: "DHnC",
  durable2: "DH2Q",
  durable2Reconnect: "DH2C",
  maximalAccess: "MxAc",
  diskId: "QFid",
  allocation: "AlSi",
  timewarp: "TWrp",
  lease: "RqLs",
} as const;

/** The data of the create context with this name; undefined if the request has none. */
export function contextData(
  { contexts }: Pick<CreateRequest, "contexts">,
  wanted: string,
): Buffer | undefined {
  return contexts.find(({ name }) => name === wanted)?.data;
}

const contextsMax = 64;
const nameBytesMin = 4;
const headBytes = 16;

export function decodeContexts(bytes: Buffer): readonly CreateContext[] | undefined {
  const contexts: CreateContext[] = [];
  for (let at = 0; at < bytes.length && contexts.length < contextsMax;) {
    const entry = bytes.subarray(at);
    const reader = new Reader(entry);
    const next = reader.u32();
    const nameOffset = reader.u16();
    const nameLength = reader.u16();
    reader.skip(2);
    const dataOffset = reader.u16();
    const dataLength = reader.u32();
    const name = reader.bytesAt(nameOffset, nameLength).toString("latin1");
    const data = reader.bytesAt(dataOffset, dataLength);
    if (!reader.intact || nameLength < nameBytesMin) return undefined;
    contexts.push({ name, data });
    if (next === 0) return contexts;
    if (next % 8 !== 0 || next < headBytes) return undefined;
    at += next;
  }
  return bytes.length === 0 ? contexts : undefined;
}

export function encodeContexts(contexts: readonly CreateContext[]): Buffer {
  const writer = new Writer();
  for (const [index, { name, data }] of contexts.entries()) {
    const start = writer.length;
    const dataAt = Math.ceil((headBytes + name.length) / 8) * 8;
    writer
      .u32(0)
      .u16(headBytes)
      .u16(name.length)
      .u16(0)
      .u16(data.length === 0 ? 0 : dataAt)
      .u32(data.length)
      .bytes(Buffer.from(name, "latin1"))
      .align(8)
      .bytes(data);
    if (index < contexts.length - 1) writer.align(8).setU32(start, writer.length - start);
  }
  return writer.finish();
}

/** The request for an SMB lease: SMB2_CREATE_REQUEST_LEASE in version 1 or 2 ([MS-SMB2] 2.2.13.2.8,
 *  2.2.13.2.10). */
export interface LeaseContext {
  readonly key: Buffer;
  readonly state: number;
  readonly flags: number;
  readonly version: 1 | 2;
  readonly parentKey: Buffer;
  readonly epoch: number;
}

const leaseBytes = 32;
const lease2Bytes = 52;

/** The lease context of a CREATE; undefined if there is none, or if it is malformed. */
export function leaseIn(create: Pick<CreateRequest, "contexts">): LeaseContext | undefined {
  const data = contextData(create, ContextName.lease);
  return data && decodeLease(data);
}

export function decodeLease(data: Buffer): LeaseContext | undefined {
  if (data.length !== leaseBytes && data.length !== lease2Bytes) return undefined;
  const reader = new Reader(data);
  const key = Buffer.from(reader.bytes(16));
  const state = reader.u32();
  const flags = reader.u32();
  reader.skip(8);
  if (data.length === leaseBytes) {
    return { key, state, flags, version: 1, parentKey: Buffer.alloc(16), epoch: 0 };
  }
  const parentKey = Buffer.from(reader.bytes(16));
  return { key, state, flags, version: 2, parentKey, epoch: reader.u16() };
}

export function encodeLease(lease: LeaseContext): CreateContext {
  const writer = new Writer().bytes(lease.key).u32(lease.state).u32(lease.flags).u64(0n);
  if (lease.version === 2) writer.bytes(lease.parentKey).u16(lease.epoch).u16(0);
  return { name: ContextName.lease, data: writer.finish() };
}

/** With which a CREATE requests a durable handle or reconnects to one ([MS-SMB2] 2.2.13.2). */
export type DurableContext =
  | { readonly kind: "request"; readonly version: 1 }
  | {
      readonly kind: "request";
      readonly version: 2;
      readonly milliseconds: number;
      readonly createGuid: string;
    }
  | { readonly kind: "reconnect"; readonly version: 1; readonly fileId: FileId }
  | {
      readonly kind: "reconnect";
      readonly version: 2;
      readonly fileId: FileId;
      readonly createGuid: string;
    };

const names: ReadonlySet<string> = new Set([
  ContextName.durable,
  ContextName.durableReconnect,
  ContextName.durable2,
  ContextName.durable2Reconnect,
]);

/** The durable context of a CREATE. `malformed` also means contexts that exclude each other. */
export function decodeDurable(
  contexts: readonly CreateContext[],
): DurableContext | "malformed" | undefined {
  const found = contexts.filter(({ name }) => names.has(name));
  const hasVersion2 = found.some(({ name }) => name === ContextName.durable2);
  const [first] = found;
  if (first === undefined) return undefined;
  if (found.length > 1) {
    // Beside a reconnect of version 1, a request of version 1 is ignored ([MS-SMB2] 3.3.5.9.7).
    const reconnect = found.find(({ name }) => name === ContextName.durableReconnect);
    const others = found.filter((context) => context !== reconnect);
    const mayIgnore = others.every(({ name }) => name === ContextName.durable);
    if (reconnect === undefined || !mayIgnore || hasVersion2) return "malformed";
    return decodeOne(reconnect);
  }
  return decodeOne(first);
}

function decodeOne({ name, data }: CreateContext): DurableContext | "malformed" {
  const reader = new Reader(data);
  const context = read(name, reader);
  return reader.intact ? context : "malformed";
}

function read(name: string, reader: Reader): DurableContext {
  switch (name) {
    case ContextName.durable:
      reader.skip(16);
      return { kind: "request", version: 1 };
    case ContextName.durableReconnect:
      return { kind: "reconnect", version: 1, fileId: readFileId(reader) };
    case ContextName.durable2: {
      const milliseconds = reader.u32();
      const createGuid = reader.skip(12).bytes(16).toString("hex");
      return { kind: "request", version: 2, milliseconds, createGuid };
    }
    default: {
      const fileId = readFileId(reader);
      const createGuid = reader.bytes(16).toString("hex");
      return { kind: "reconnect", version: 2, fileId, createGuid };
    }
  }
}

/** The context with which the response grants a durable handle. Version 1 has no time-out. */
export function encodeDurable(version: 1 | 2, milliseconds: number): CreateContext {
  if (version === 1) return { name: ContextName.durable, data: Buffer.alloc(8) };
  const data = new Writer(8).u32(milliseconds).u32(0).finish();
  return { name: ContextName.durable2, data };
}
