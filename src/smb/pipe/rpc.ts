import { Reader, Writer } from "../wire/buffers.ts";
import type { FileId } from "../request.ts";
import type { TreeConnect } from "../session.ts";

/** Remote procedure calls over a named pipe (DCE/RPC, [MS-RPCE] 2.2.2): only what clients need to
 *  list shares with the service srvsvc. First the messages (PDUs) bind and request with their
 *  replies, then the operations of srvsvc. `smb/operations/pipe.ts` calls both. */

const PduType = { request: 0, response: 2, fault: 3, bind: 11, bindAck: 12 } as const;
const headerBytes = 16;
const fragmentBytesMax = 4280;
const firstAndLast = 3;
const contextsMax = 16;
const operationUnknown = 0x1c01_0002;
const transferSyntax = Buffer.from("045d888aeb1cc9119fe808002b10486002000000", "hex");

/** Runs an operation of a service by number; the result is undefined if it is unknown. */
type Procedures = (operation: number, input: Buffer) => Promise<Buffer | undefined>;

/** Handles one message (PDU) of a client: runs the operation that it requests with `call`. Returns
 *  the reply; undefined if the message is malformed. */
export async function handlePdu(
  pdu: Buffer,
  pipeName: string,
  call: Procedures,
): Promise<Buffer | undefined> {
  const reader = new Reader(pdu);
  const version = reader.u16();
  const type = reader.u8();
  reader.skip(5);
  const length = reader.u16();
  reader.skip(2);
  const callId = reader.u32();
  if (!reader.intact || version !== 5 || length > pdu.length) return undefined;
  if (type === PduType.bind) return bindAck(reader, callId, pipeName);
  if (type !== PduType.request) return undefined;
  reader.skip(4);
  const contextId = reader.u16();
  const operation = reader.u16();
  if (!reader.intact) return undefined;
  const output = await call(operation, pdu.subarray(reader.position, length));
  return output === undefined ? fault(callId, contextId) : responses(callId, contextId, output);
}

/** The reply to a bind, which accepts the services of a client if it supports our encoding, NDR. */
function bindAck(reader: Reader, callId: number, pipeName: string): Buffer | undefined {
  reader.skip(8);
  const count = reader.u8();
  reader.skip(3);
  if (count > contextsMax) return undefined;
  const body = new Writer();
  const address = Buffer.from(`\\PIPE\\${pipeName}\0`, "latin1");
  body.u16(fragmentBytesMax).u16(fragmentBytesMax).u32(1).u16(address.length).bytes(address);
  // The result list is aligned to 4 bytes from the start of the PDU.
  body.align(4).u8(count).zeros(3);
  for (let index = 0; index < count; index += 1) {
    reader.skip(2);
    const syntaxCount = reader.u8();
    reader.skip(1 + 20);
    let isSupported = false;
    for (let syntaxIndex = 0; syntaxIndex < syntaxCount; syntaxIndex += 1) {
      isSupported = reader.bytes(transferSyntax.length).equals(transferSyntax) || isSupported;
    }
    if (isSupported) body.u16(0).u16(0).bytes(transferSyntax);
    else body.u16(2).u16(2).zeros(transferSyntax.length);
  }
  return reader.intact ? pduOf(PduType.bindAck, callId, body.finish(), firstAndLast) : undefined;
}

function fault(callId: number, contextId: number): Buffer {
  const body = new Writer().u32(0).u16(contextId).u16(0).u32(operationUnknown).u32(0).finish();
  return pduOf(PduType.fault, callId, body, firstAndLast);
}

const responseHeaderBytes = 8;
const stubBytesMax = fragmentBytesMax - headerBytes - responseHeaderBytes;

/** The response to a call, in fragments of at most `fragmentBytesMax`. */
function responses(callId: number, contextId: number, output: Buffer): Buffer {
  const fragments: Buffer[] = [];
  for (let at = 0; at === 0 || at < output.length; at += stubBytesMax) {
    const stub = output.subarray(at, at + stubBytesMax);
    const isFirst = at === 0 ? 1 : 0;
    const isLast = at + stubBytesMax >= output.length ? 2 : 0;
    const body = new Writer()
      .u32(output.length - at)
      .u16(contextId)
      .u16(0)
      .bytes(stub)
      .finish();
    fragments.push(pduOf(PduType.response, callId, body, isFirst | isLast));
  }
  return Buffer.concat(fragments);
}

function pduOf(type: number, callId: number, body: Buffer, flags: number): Buffer {
  return new Writer(headerBytes + body.length)
    .u16(5)
    .u8(type)
    .u8(flags)
    .u32(0x10)
    .u16(headerBytes + body.length)
    .u16(0)
    .u32(callId)
    .bytes(body)
    .finish();
}

/** An open named pipe: a WRITE carries a request PDU, a READ returns its reply. */
export interface PipeHandle {
  readonly kind: "pipe";
  readonly id: FileId;
  readonly tree: TreeConnect;
  readonly name: string;
  /** Bytes of a reply that the client has not read yet. */
  pending: Buffer;
  /** Whether a READ ended inside the first fragment of `pending`, of which `fragmentBytesLeft`
   *  bytes remain. */
  isMidFragment: boolean;
  fragmentBytesLeft: number;
}

export const pipeNames: ReadonlySet<string> = new Set(["srvsvc"]);
/** Limit of the reply bytes in a pipe that the client has not read; beyond it, calls fail. */
export const pipeBytesMax = 1024 * 1024;

/* The operations of srvsvc that clients use to list shares ([MS-SRVS] 3.1.4), encoded as NDR
 * ([C706] 14): first the fixed fields, with a referent id (any number but 0) for each pointer,
 * then the texts that the pointers refer to. */

const Operation = { enumerate: 15, getInfo: 16, serverInfo: 21 } as const;
const ShareKind = { disk: 0, pipe: 3, hidden: 0x8000_0000 } as const;
const invalidLevel = 124;
const noSuchShare = 2310;
const textUnitsMax = 1024;
const referent = 0x0002_0000;

interface ShareEntry {
  readonly name: string;
  readonly comment: string;
}

const pipeEntry: ShareEntry = { name: "IPC$", comment: "Remote IPC" };

/** Runs an operation of srvsvc by number; undefined if it is unknown or the input is malformed. */
export async function callShareService(
  operation: number,
  input: Buffer,
  listShares: () => Promise<readonly string[]>,
  serverName: string,
): Promise<Buffer | undefined> {
  const entries = async (): Promise<readonly ShareEntry[]> => {
    return [...(await listShares()).map((name) => ({ name, comment: "" })), pipeEntry];
  };
  switch (operation) {
    case Operation.enumerate:
      return enumerate(input, await entries());
    case Operation.getInfo:
      return getInfo(input, await entries());
    case Operation.serverInfo:
      return serverInfo(input, serverName);
    default:
      return undefined;
  }
}

function readText(reader: Reader): string {
  // Maximum count and offset of the conformant varying string.
  reader.skip(8);
  const units = reader.u32();
  // A negative skip marks the input as malformed.
  if (units > textUnitsMax) return reader.skip(-1).text(0);
  const text = reader.text(units * 2);
  reader.align(4);
  return text.replace(/\0$/, "");
}

function readPointedText(reader: Reader): string {
  return reader.u32() === 0 ? "" : readText(reader);
}

function writeText(writer: Writer, text: string): void {
  const units = text.length + 1;
  writer.u32(units).u32(0).u32(units).text(`${text}\0`).align(4);
}

function kindOf({ name }: ShareEntry): number {
  return name === pipeEntry.name ? (ShareKind.pipe | ShareKind.hidden) >>> 0 : ShareKind.disk;
}

/** NetrShareEnum: lists all shares, at level 0 only their names. */
function enumerate(input: Buffer, entries: readonly ShareEntry[]): Buffer | undefined {
  const reader = new Reader(input);
  readPointedText(reader);
  const level = reader.u32();
  if (!reader.intact) return undefined;
  const writer = new Writer().u32(level).u32(level);
  if (level > 1) return writer.u32(0).u32(0).u32(0).u32(invalidLevel).finish();
  writer
    .u32(referent)
    .u32(entries.length)
    .u32(referent + 4)
    .u32(entries.length);
  for (const [index, entry] of entries.entries()) {
    writer.u32(referent + 8 + index * 8);
    if (level === 1) writer.u32(kindOf(entry)).u32(referent + 12 + index * 8);
  }
  for (const { name, comment } of entries) {
    writeText(writer, name);
    if (level === 1) writeText(writer, comment);
  }
  return writer.u32(entries.length).u32(0).u32(0).finish();
}

/** NetrShareGetInfo: describes one share. */
function getInfo(input: Buffer, entries: readonly ShareEntry[]): Buffer | undefined {
  const reader = new Reader(input);
  readPointedText(reader);
  const name = readText(reader).toLowerCase();
  const level = reader.u32();
  if (!reader.intact) return undefined;
  const writer = new Writer().u32(level);
  const entry = entries.find((each) => each.name.toLowerCase() === name);
  if (entry === undefined) return writer.u32(0).u32(noSuchShare).finish();
  if (level > 2) return writer.u32(0).u32(invalidLevel).finish();
  writer.u32(referent).u32(referent + 4);
  if (level >= 1) writer.u32(kindOf(entry)).u32(referent + 8);
  if (level === 2)
    writer
      .u32(0)
      .u32(0xffff_ffff)
      .u32(0)
      .u32(referent + 12)
      .u32(0);
  writeText(writer, entry.name);
  if (level >= 1) writeText(writer, entry.comment);
  if (level === 2) writeText(writer, "");
  return writer.u32(0).finish();
}

const platformNt = 500;
const serverKind = 0x9003;

function serverInfo(input: Buffer, serverName: string): Buffer | undefined {
  const reader = new Reader(input);
  readPointedText(reader);
  const level = reader.u32();
  if (!reader.intact) return undefined;
  const writer = new Writer().u32(level);
  if (level !== 100 && level !== 101) return writer.u32(0).u32(invalidLevel).finish();
  writer
    .u32(referent)
    .u32(platformNt)
    .u32(referent + 4);
  if (level === 101)
    writer
      .u32(6)
      .u32(1)
      .u32(serverKind)
      .u32(referent + 8);
  writeText(writer, serverName);
  if (level === 101) writeText(writer, "");
  return writer.u32(0).finish();
}
