import { Writer } from "../../src/smb/wire/buffers.ts";
import type { Answered, Handle, WireClient } from "./wire-client.ts";

/** Requests about files, and the steps common to many tests. */

export const Access = {
  read: 0x0012_0089,
  write: 0x0012_0116,
  all: 0x001f_01ff,
  delete: 0x0001_0080,
  look: 0x80,
} as const;

export interface OpenOptions {
  readonly access?: number;
  readonly share?: number;
  readonly disposition?: number;
  readonly options?: number;
  readonly oplock?: number;
  readonly contexts?: Buffer;
}

export const openIf = 3;
export const shareAll = 7;
const nameOffset = 120;

export function createBody(name: string, given: OpenOptions = {}): Buffer {
  const bytes = Buffer.from(name, "utf16le");
  const contexts = given.contexts ?? Buffer.alloc(0);
  const contextAt = Math.ceil((nameOffset + bytes.length) / 8) * 8;
  const writer = new Writer()
    .u16(57)
    .u8(0)
    .u8(given.oplock ?? 0)
    .u32(2)
    .zeros(16)
    .u32(given.access ?? Access.all)
    .u32(0)
    .u32(given.share ?? shareAll)
    .u32(given.disposition ?? openIf)
    .u32(given.options ?? 0)
    .u16(nameOffset)
    .u16(bytes.length)
    .u32(contexts.length === 0 ? 0 : contextAt)
    .u32(contexts.length)
    .bytes(bytes);
  return writer.align(8).bytes(contexts).zeros(1).finish();
}

export async function openFile(
  client: WireClient,
  name: string,
  given: OpenOptions = {},
): Promise<Handle> {
  const answer = await client.ask(5, createBody(name, given));
  if (answer.status !== 0) throw new Error(`open failed: ${answer.status.toString(16)}`);
  return handleOf(answer);
}

export function handleOf({ message }: Answered): Handle {
  return { persistent: message.readBigUInt64LE(128), volatile: message.readBigUInt64LE(136) };
}

export function oplockOf({ message }: Answered): number {
  return message[66]!;
}

export function closeBody({ persistent, volatile }: Handle): Buffer {
  return new Writer().u16(24).u16(0).u32(0).u64(persistent).u64(volatile).finish();
}

export function close(client: WireClient, handle: Handle): Promise<Answered> {
  return client.ask(6, closeBody(handle));
}

export function write(client: WireClient, handle: Handle, text: string, at = 0): Promise<Answered> {
  return client.ask(9, writeBody(handle, text, at));
}

export function writeBody({ persistent, volatile }: Handle, text: string, at = 0): Buffer {
  const data = Buffer.from(text);
  const body = new Writer()
    .u16(49)
    .u16(112)
    .u32(data.length)
    .u64(BigInt(at))
    .u64(persistent)
    .u64(volatile)
    .zeros(16)
    .bytes(data);
  return body.finish();
}

export function readBody({ persistent, volatile }: Handle, length: number, at = 0): Buffer {
  return new Writer()
    .u16(49)
    .u16(0)
    .u32(length)
    .u64(BigInt(at))
    .u64(persistent)
    .u64(volatile)
    .zeros(17)
    .finish();
}

export async function read(
  client: WireClient,
  handle: Handle,
  length: number,
  at = 0,
): Promise<{ status: number; text: string }> {
  const { status, message } = await client.ask(8, readBody(handle, length, at));
  const text = status === 0 ? message.subarray(80, 80 + message.readUInt32LE(68)).toString() : "";
  return { status, text };
}

export interface LockOptions {
  readonly at: number;
  readonly length: number;
  readonly flags: number;
  /** LockSequenceNumber and LockSequenceIndex, for a client that may repeat a lock. */
  readonly sequence?: number;
}

export function lockBody(handle: Handle, lock: LockOptions): Buffer {
  return locksBody(handle, [lock], lock.sequence);
}

/** A LOCK request for several ranges. */
export function locksBody(
  { persistent, volatile }: Handle,
  locks: readonly LockOptions[],
  sequence = 0,
): Buffer {
  const writer = new Writer().u16(48).u16(locks.length).u32(sequence).u64(persistent).u64(volatile);
  for (const { at, length, flags } of locks) {
    writer.u64(BigInt(at)).u64(BigInt(length)).u32(flags).u32(0);
  }
  return writer.finish();
}

export function setInfo(
  client: WireClient,
  handle: Handle,
  infoClass: number,
  data: Buffer,
): Promise<Answered> {
  return client.ask(17, setInfoBody(handle, infoClass, data));
}

export function setInfoBody(
  { persistent, volatile }: Handle,
  infoClass: number,
  data: Buffer,
): Buffer {
  const body = new Writer()
    .u16(33)
    .u8(1)
    .u8(infoClass)
    .u32(data.length)
    .u16(96)
    .u16(0)
    .u32(0)
    .u64(persistent)
    .u64(volatile)
    .bytes(data);
  return body.finish();
}

/** Sets attributes only; times are unchanged. */
export function basicInfo(attributes: number): Buffer {
  return new Writer().zeros(32).u32(attributes).u32(0).finish();
}

export function renameInfo(path: string, replaces = false): Buffer {
  const name = Buffer.from(path, "utf16le");
  return new Writer()
    .u8(replaces ? 1 : 0)
    .zeros(15)
    .u32(name.length)
    .bytes(name)
    .finish();
}

/** A file system control with the input that follows the header. */
export function ioctlBody({ persistent, volatile }: Handle, code: number, input: Buffer): Buffer {
  const body = new Writer().u16(57).u16(0).u32(code).u64(persistent).u64(volatile);
  body.u32(120).u32(input.length).u32(0).u32(0).u32(0).u32(4096).u32(1).u32(0);
  return body.bytes(input).finish();
}

/** The input of FSCTL_SET_ZERO_DATA and FSCTL_QUERY_ALLOCATED_RANGES. */
export function numberPair(first: number, second: number): Buffer {
  return new Writer().u64(BigInt(first)).u64(BigInt(second)).finish();
}

export function setDeletePending(client: WireClient, handle: Handle, isPending: boolean) {
  return setInfo(client, handle, 13, Buffer.from([isPending ? 1 : 0]));
}

export function acknowledgeOplock(client: WireClient, handle: Handle, level: number) {
  const { persistent, volatile } = handle;
  const body = new Writer().u16(24).u8(level).zeros(5).u64(persistent).u64(volatile).finish();
  return client.ask(18, body);
}

export function notifyBody({ persistent, volatile }: Handle, filter = 0x3): Buffer {
  return new Writer()
    .u16(32)
    .u16(0)
    .u32(4096)
    .u64(persistent)
    .u64(volatile)
    .u32(filter)
    .u32(0)
    .finish();
}
