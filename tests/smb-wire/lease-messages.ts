import { encodeContexts, encodeLease } from "../../src/smb/wire/create.ts";
import { Writer } from "../../src/smb/wire/writer.ts";
import type { Answered, Handle, WireClient } from "./wire-client.ts";
import { createBody, handleOf, shareAll } from "./wire-messages.ts";

const byLease = 0xff;

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
  const lease = encodeLease({
    key: Buffer.alloc(16, key),
    state,
    flags: 0,
    version: 1,
    parentKey: Buffer.alloc(16),
    epoch: 0,
  });
  const contexts = encodeContexts([lease]);
  return handleOf(await client.ask(5, createBody(name, { oplock: byLease, share, contexts })));
}

export function acknowledgeLease(
  client: WireClient,
  key: number,
  state: number,
): Promise<Answered> {
  const body = new Writer().u16(36).u16(0).u32(0).bytes(Buffer.alloc(16, key));
  return client.ask(18, body.u32(state).u64(0n).finish());
}
