import { newResponse, type CommandResult, type TreeRequest } from "../request.ts";
import { listShares } from "../files/shares.ts";
import {
  handlePdu,
  pipeBytesMax,
  pipeNames,
  type PipeHandle,
  callShareService,
} from "../pipe/rpc.ts";
import { Status } from "../status.ts";
import { encodeCreateResponse, type CreateRequest } from "../wire/create.ts";
import { noFacts } from "../wire/header.ts";
import { encodeWriteResponse, newReadResponse } from "../wire/io.ts";
import { OplockLevel } from "../wire/protocol.ts";

/** Named pipes of `IPC$`, through which clients list the shares of the server ([MS-SRVS]). The
 *  operations of SMB (CREATE, READ, WRITE, IOCTL) call these functions for a pipe. */

const normalAttribute = 0x80;
const openedAction = 1;
const pipeAllocation = 4096n;
/** Where the header of an RPC fragment has the length of the fragment ([MS-RPCE] 2.2.2.1). */
const fragmentLengthOffset = 8;

/** CREATE of a pipe. A pipe is no file: its handle exists only in the session, not in the store. */
export function openPipe(request: TreeRequest, { name: decoded }: CreateRequest): CommandResult {
  const { session, tree, connection } = request;
  const name = decoded.replace(/^\\/, "").toLowerCase();
  if (!pipeNames.has(name)) return Status.objectNameNotFound;
  const id = { persistent: connection.server.newId(), volatile: connection.server.newId() };
  const nothing = { pending: Buffer.alloc(0), isMidFragment: false, fragmentBytesLeft: 0 };
  session.handles.set(id.volatile, { kind: "pipe", id, tree, name, ...nothing });
  const body = encodeCreateResponse({
    oplock: OplockLevel.none,
    action: openedAction,
    facts: { ...noFacts, attributes: normalAttribute, allocated: pipeAllocation },
    fileId: id,
    contexts: [],
  });
  return { ...newResponse(body), fileId: id };
}

/** Runs the RPC call in a message, which a client sends by WRITE or FSCTL_PIPE_TRANSCEIVE. The
 *  reply stays in the pipe until the client reads it. False if the message is malformed or the pipe
 *  is full. */
export async function callPipe(
  { connection, session }: TreeRequest,
  handle: PipeHandle,
  input: Buffer,
): Promise<boolean> {
  const { runtime, options } = connection.server.world;
  const shares = () => listShares(runtime, session.account);
  const output = await handlePdu(input, handle.name, (operation, body) =>
    callShareService(operation, body, shares, options.serverName),
  );
  if (output === undefined || output.length + handle.pending.length > pipeBytesMax) return false;
  handle.pending = Buffer.concat([handle.pending, output]);
  return true;
}

export async function writePipe(
  request: TreeRequest,
  handle: PipeHandle,
  data: Buffer,
): Promise<CommandResult> {
  const isDone = await callPipe(request, handle, data);
  return isDone ? newResponse(encodeWriteResponse(data.length)) : Status.invalidParameter;
}

/** READ of a pipe: returns the reply to a call, or a part of it. */
export function readPipe(handle: PipeHandle, length: number): CommandResult {
  if (handle.pending.length === 0) return Status.pipeDisconnected;
  const { bytes, isCut } = takeFromPipe(handle, length);
  const { message, data } = newReadResponse(bytes.length);
  bytes.copy(data);
  return { status: isCut ? Status.bufferOverflow : Status.success, message };
}

/** Removes at most one fragment from the pipe. `isCut`: the fragment is longer than `lengthMax`;
 *  the next read continues it. */
export function takeFromPipe(
  handle: PipeHandle,
  lengthMax: number,
): { readonly bytes: Buffer; readonly isCut: boolean } {
  const { pending } = handle;
  const hasLength = pending.length >= fragmentLengthOffset + 2;
  const fragment = hasLength ? pending.readUInt16LE(fragmentLengthOffset) : pending.length;
  const whole = handle.isMidFragment
    ? handle.fragmentBytesLeft
    : Math.min(fragment, pending.length);
  const count = Math.min(whole, lengthMax);
  handle.pending = pending.subarray(count);
  handle.fragmentBytesLeft = whole - count;
  handle.isMidFragment = count < whole;
  return { bytes: pending.subarray(0, count), isCut: count < whole };
}
