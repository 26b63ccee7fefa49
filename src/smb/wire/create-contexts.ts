import { Reader } from "./reader.ts";
import { Writer } from "./writer.ts";

/** A create context of a CREATE request or response ([MS-SMB2] 2.2.13.2). */
export interface CreateContext {
  /** 4 ASCII characters, or the 16 bytes of a GUID as Latin-1. */
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

/** SMB2_CREATE_REQUEST_LEASE and its version 2 ([MS-SMB2] 2.2.13.2.8, 2.2.13.2.10). */
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
