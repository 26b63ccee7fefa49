import { SecurityPart } from "../../src/file/shared/descriptor-bytes.ts";
import { descriptorBytes } from "../../src/smb/files/security.ts";
import { Status } from "../../src/smb/status.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";
import type { Answered, Handle, WireClient } from "./wire-client.ts";
import {
  close,
  createBody,
  handleOf,
  ioctlBody,
  lockBody,
  numberPair,
  renameInfo,
  setInfo,
  type OpenOptions,
} from "./wire-messages.ts";

/** Steps of an SMB client with a handle; each returns a status. */
export type Step = (client: WireClient, handle: Handle) => Promise<Answered>;

export const Disposition = { supersede: 0, open: 1, create: 2, overwrite: 4, overwriteIf: 5 };
export const Option = { directory: 1, deleteOnClose: 0x1000 };
export const Right = { append: 0x4, writeAttributes: 0x100, delete: 0x1_0000, writeDac: 0x4_0000 };

/** Opens an existing file, runs the steps, closes it; returns the first failure. */
export async function withHandle(
  client: WireClient,
  path: string,
  opening: OpenOptions,
  ...steps: readonly Step[]
): Promise<number> {
  const given = { disposition: Disposition.open, ...opening };
  const opened = await client.ask(5, createBody(path, given));
  if (opened.status !== Status.success) return opened.status;
  const handle = handleOf(opened);
  let status: number = Status.success;
  for (const step of steps) {
    status = (await step(client, handle)).status;
    if (status !== Status.success) break;
  }
  await close(client, handle);
  return status;
}

const int64 = (value: number): Buffer => new Writer().u64(BigInt(value)).finish();

export const setEnd = (length: number): Step => setting(20, int64(length));
export const setAllocation = (length: number): Step => setting(19, int64(length));
export const setDisposition: Step = setting(13, Buffer.from([1]));
export const setAttributes = (attributes: number): Step =>
  setting(4, new Writer().zeros(32).u32(attributes).u32(0).finish());
export const setLastWrite = (fileTime: bigint): Step =>
  setting(4, new Writer().zeros(16).u64(fileTime).zeros(8).u32(0).u32(0).finish());
export const renameTo = (path: string, replaces = false): Step =>
  setting(10, renameInfo(path, replaces));
/** The structure is that of a rename. */
export const linkAs = (path: string): Step => setting(11, renameInfo(path));

function setting(infoClass: number, data: Buffer): Step {
  return (client, handle) => setInfo(client, handle, infoClass, data);
}

const zeroDataControl = 0x0009_80c8;

export const zeroData: Step = (client, handle) =>
  client.ask(11, ioctlBody(handle, zeroDataControl, numberPair(0, 4)));

export const setRights =
  (sddl: string): Step =>
  (client, { persistent, volatile }) => {
    const data = descriptorBytes(sddl, SecurityPart.access) ?? Buffer.alloc(0);
    const body = new Writer().u16(33).u8(3).u8(0).u32(data.length).u16(96).u16(0);
    body.u32(SecurityPart.access).u64(persistent).u64(volatile).bytes(data);
    return client.ask(17, body.finish());
  };

const exclusiveNow = 0x12;

export const lockBytes: Step = (client, handle) =>
  client.ask(10, lockBody(handle, { at: 0, length: 4, flags: exclusiveNow }));
