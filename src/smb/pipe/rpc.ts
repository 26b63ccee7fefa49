import { Reader } from "../wire/reader.ts";
import { Writer } from "../wire/writer.ts";
import type { FileId } from "../response.ts";
import type { TreeConnect } from "../session.ts";

/** Remote procedure calls over a named pipe (DCE/RPC, [MS-RPCE] 2.2.2). Only what clients need to
 *  list shares with the service srvsvc: the messages (PDUs) bind and request, and their replies.
 *  `smb/operations/pipe.ts` calls `handlePdu`. */

const PduType = { request: 0, response: 2, fault: 3, bind: 11, bindAck: 12 } as const;
const headerBytes = 16;
const fragmentBytesMax = 4280;
const firstAndLast = 3;
const contextsMax = 16;
const operationUnknown = 0x1c01_0002;
const transferSyntax = Buffer.from("045d888aeb1cc9119fe808002b10486002000000", "hex");

/** Runs an operation by number; undefined if it is unknown. */
type Procedures = (operation: number, input: Buffer) => Promise<Buffer | undefined>;

/** Returns the reply to one PDU; undefined if the PDU is malformed. */
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

/** The response to a call, in as many fragments of `fragmentBytesMax` as needed. */
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
/** Limit of this server for the reply bytes of a pipe that the client has not read. */
export const pipeBytesMax = 1024 * 1024;
