import { readFile } from "../../file/filesystem/info.ts";
import {
  newResponse,
  type CommandResult,
  exceedsLimits,
  type TreeRequest,
  waitForLocks,
} from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has, findHandle, requestOn, type FileHandle } from "../files/file-handle.ts";
import { Status, statusOf } from "../status.ts";
import {
  decodeRead,
  decodeWrite,
  encodeWriteResponse,
  newReadResponse,
  type ReadRequest,
  type WriteRequest,
} from "../wire/io.ts";
import { readPipe, writePipe } from "./pipe.ts";
import { writeFile } from "../../file/filesystem/write.ts";
import { modification } from "../files/change-dispatcher.ts";
import { ChangeFilter } from "../files/directory-watch.ts";

/** READ and WRITE of files and of named pipes. */

/** The largest offset of a byte in a request: the largest signed 64-bit number. */
const offsetMax = 0x7fff_ffff_ffff_ffffn;

/** READ: checks the request, and reads from a file or a named pipe. */
export async function read(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeRead(request.message);
  if (decoded === undefined || exceedsLimits(request, decoded.length)) {
    return Status.invalidParameter;
  }
  const handle = findHandle(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  if (handle.kind === "pipe") return readPipe(handle, decoded.length);
  if (handle.isDirectory) return Status.invalidDeviceRequest;
  if (!has(handle.access, Right.readData | Right.execute)) return Status.accessDenied;
  if (decoded.offset + BigInt(decoded.length) > offsetMax) return Status.invalidParameter;
  return readBytes(request, handle, decoded);
}

async function readBytes(
  { connection }: TreeRequest,
  handle: FileHandle,
  { offset, length: wanted, minimum }: ReadRequest,
): Promise<CommandResult> {
  // The conversion is inexact from 2^53 on, where an offset is beyond the end of any file.
  const from = Number(offset);
  const { runtime } = connection.server.world;
  const outcome = await readFile(runtime, { ...requestOn(handle), from, length: wanted });
  if (outcome.kind === "fault") return statusOf(outcome.fault);
  const { reader, length } = outcome.value;
  try {
    if (length < minimum) return Status.endOfFile;
    const { message, data } = newReadResponse(length);
    let at = 0;
    for await (const chunk of reader.read(from, length)) {
      data.set(chunk, at);
      at += chunk.length;
    }
    handle.position = offset + BigInt(length);
    return { status: Status.success, message };
  } finally {
    reader.close();
  }
}

/** The offset that means the end of the file, in a WRITE of a handle that may only append. */
const atEnd = 0xffff_ffff_ffff_ffffn;
/** End of the largest file of NTFS; clients expect this limit. */
const fileEndMax = 0xfff_ffff_0000n;

/** WRITE: checks the request, and writes to a file or a named pipe. */
export async function write(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeWrite(request.message);
  if (decoded === undefined || exceedsLimits(request, decoded.data.length)) {
    return Status.invalidParameter;
  }
  const handle = findHandle(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  if (handle.kind === "pipe") return writePipe(request, handle, decoded.data);
  if (handle.isDirectory) return Status.invalidDeviceRequest;
  const mayWrite = has(handle.access, Right.writeData);
  if (!mayWrite && !has(handle.access, Right.appendData)) return Status.accessDenied;
  const isAppend = decoded.offset === atEnd && !mayWrite;
  const end = decoded.offset + BigInt(decoded.data.length);
  const endMax = decoded.data.length === 0 ? offsetMax : fileEndMax;
  if (!isAppend && end > endMax) return Status.invalidParameter;
  if (decoded.data.length === 0) return newResponse(encodeWriteResponse(0));
  return writeBytes(request, handle, decoded, isAppend ? "end" : Number(decoded.offset));
}

/** The properties that a WRITE changes, for the watches of CHANGE_NOTIFY requests. */
const writeFilter = ChangeFilter.size | ChangeFilter.lastWrite;

async function writeBytes(
  request: TreeRequest,
  handle: FileHandle,
  { data }: WriteRequest,
  at: number | "end",
): Promise<CommandResult> {
  const writing = { ...requestOn(handle), at, bytes: data };
  const outcome = await waitForLocks(request, (runtime) => writeFile(runtime, writing));
  if (typeof outcome === "number") return outcome;
  const { changeDispatcher } = request.connection.server;
  changeDispatcher.publish(handle.reference.share.id, [modification(outcome.value, writeFilter)]);
  return newResponse(encodeWriteResponse(data.length));
}
