import {
  ContextName,
  decodeContexts,
  decodeLease,
  encodeContexts,
  encodeLease,
  type CreateContext,
} from "../../src/smb/wire/create.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import type { Answered, Handle, WireClient } from "./wire-client.ts";
import { createBody, handleOf, shareAll } from "./wire-messages.ts";

/** The oplock level that stands for an SMB lease. */
export const byLease = 0xff;
/** Bits of a lease state. */
export const leaseBits = { read: 1, handle: 2, write: 4 } as const;

const keyBytes = 16;
const breakNotificationBytes = 44;

/** An SMB lease: its state bits, and the byte its key consists of. */
export interface LeaseOptions {
  readonly state: number;
  readonly key: number;
  /** Share mode of the open; undefined: everything. */
  readonly share?: number;
}

export async function leasedOpen(
  client: WireClient,
  name: string,
  { state, key, share = shareAll }: LeaseOptions,
): Promise<Handle> {
  const contexts = encodeContexts([leaseContext(Buffer.alloc(keyBytes, key), state)]);
  return handleOf(await client.ask(5, createBody(name, { oplock: byLease, share, contexts })));
}

export function leaseContext(key: Buffer, state: number): CreateContext {
  const parentKey = Buffer.alloc(keyBytes);
  return encodeLease({ key, state, flags: 0, version: 1, parentKey, epoch: 0 });
}

/** The lease state that a CREATE response grants; 0 without a lease. */
export function grantedState({ message }: Answered): number {
  const [at, length] = [message.readUInt32LE(144), message.readUInt32LE(148)];
  const contexts = decodeContexts(message.subarray(at, at + length)) ?? [];
  const leases = contexts.flatMap(({ name, data }) =>
    name === ContextName.lease ? [decodeLease(data)] : [],
  );
  return leases[0]?.state ?? 0;
}

export interface LeaseBreak {
  readonly key: Buffer;
  readonly needsAcknowledgement: boolean;
}

/** Undefined for the notification of an oplock break. */
export function leaseBreakIn({ message }: Answered): LeaseBreak | undefined {
  if (message.readUInt16LE(64) !== breakNotificationBytes) return undefined;
  const needsAcknowledgement = (message.readUInt32LE(68) & 1) !== 0;
  return { key: message.subarray(72, 72 + keyBytes), needsAcknowledgement };
}

export function acknowledgeLease(
  client: WireClient,
  key: number | Buffer,
  state: number,
): Promise<Answered> {
  const bytes = typeof key === "number" ? Buffer.alloc(keyBytes, key) : key;
  const body = new Writer().u16(36).u16(0).u32(0).bytes(bytes);
  return client.ask(18, body.u32(state).u64(0n).finish());
}
