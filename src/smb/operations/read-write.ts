import { readFile, type FileReadResult } from "../../file/filesystem/info.ts";
import { errorResponse, newResponse, type SmbResponse } from "../response.ts";
import { transactBytesMax } from "../limits.ts";
import { coversBytes, type TreeRequest } from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import { findHandle, isResponse } from "../files/lookup.ts";
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
import type { FileHandle } from "../files/file-handle.ts";
import { writeFile } from "../../file/filesystem/write.ts";
import { modification } from "../files/change-dispatcher.ts";
import { ChangeFilter } from "../files/directory-watch.ts";
import { statusOfWait, waitForLocks } from "../files/wait-for-locks.ts";

const offsetMax = 0x7fff_ffff_ffff_ffffn;

/** READ: bytes of a file or of a named pipe. */
export async function read(request: TreeRequest): Promise<SmbResponse> {
  const decoded = decodeRead(request.message);
  if (decoded === undefined || decoded.length > transactBytesMax) {
    return errorResponse(Status.invalidParameter);
  }
  if (!coversBytes(request, decoded.length)) return errorResponse(Status.invalidParameter);
  const handle = findHandle(request, decoded.fileId);
  if (isResponse(handle)) return handle;
  if (handle.kind === "pipe") return readPipe(handle, decoded.length);
  if (handle.isDirectory) return errorResponse(Status.invalidDeviceRequest);
  if (!has(handle.access, Right.readData | Right.execute))
    return errorResponse(Status.accessDenied);
  if (decoded.offset + BigInt(decoded.length) > offsetMax)
    return errorResponse(Status.invalidParameter);
  return readBytes(request, handle, decoded);
}

async function readBytes(
  { connection }: TreeRequest,
  handle: FileHandle,
  decoded: ReadRequest,
): Promise<SmbResponse> {
  // Inexact from 2^53 on, but such an offset is beyond the end of any file.
  const from = Number(decoded.offset);
  const outcome = await readFile(connection.server.world.runtime, {
    reference: handle.reference,
    handle: handle.id.persistent,
    from,
    length: decoded.length,
  });
  if (outcome.kind === "fault") return errorResponse(statusOf(outcome.fault));
  const { reader, length } = outcome.value;
  try {
    if (length < decoded.minimum) return errorResponse(Status.endOfFile);
    const { message, data } = newReadResponse(length);
    await fill(outcome.value, from, data);
    handle.position = decoded.offset + BigInt(length);
    return { status: Status.success, message };
  } finally {
    reader.close();
  }
}

async function fill({ reader, length }: FileReadResult, from: number, data: Buffer): Promise<void> {
  let at = 0;
  for await (const chunk of reader.read(from, length)) {
    data.set(chunk, at);
    at += chunk.length;
  }
}

/** Offset of a write to the end of the file. */
const atEnd = 0xffff_ffff_ffff_ffffn;
/** End of the largest file of NTFS; clients expect this limit. */
const fileEndMax = 0xfff_ffff_0000n;

/** WRITE: bytes to a file or to a named pipe. */
export async function write(request: TreeRequest): Promise<SmbResponse> {
  const decoded = decodeWrite(request.message);
  if (decoded === undefined || decoded.data.length > transactBytesMax) {
    return errorResponse(Status.invalidParameter);
  }
  if (!coversBytes(request, decoded.data.length)) return errorResponse(Status.invalidParameter);
  const handle = findHandle(request, decoded.fileId);
  if (isResponse(handle)) return handle;
  if (handle.kind === "pipe") return writePipe(request, handle, decoded.data);
  if (handle.isDirectory) return errorResponse(Status.invalidDeviceRequest);
  const mayWrite = has(handle.access, Right.writeData);
  if (!mayWrite && !has(handle.access, Right.appendData)) return errorResponse(Status.accessDenied);
  const isAppend = decoded.offset === atEnd && !mayWrite;
  const end = decoded.offset + BigInt(decoded.data.length);
  const endMax = decoded.data.length === 0 ? offsetMax : fileEndMax;
  if (!isAppend && end > endMax) return errorResponse(Status.invalidParameter);
  if (decoded.data.length === 0) return newResponse(encodeWriteResponse(0));
  return writeBytes(request, handle, decoded, isAppend ? "end" : Number(decoded.offset));
}

const writeFilter = ChangeFilter.size | ChangeFilter.lastWrite;

async function writeBytes(
  { connection: { server }, lifetime }: TreeRequest,
  handle: FileHandle,
  { data }: WriteRequest,
  at: number | "end",
): Promise<SmbResponse> {
  const { reference, keepsLastWrite, id } = handle;
  const writing = { reference, handle: id.persistent, keepsLastWrite, at, bytes: data };
  const outcome = await waitForLocks(server, { lifetime }, () =>
    writeFile(server.world.runtime, writing),
  );
  if (outcome.kind === "done") {
    server.changeDispatcher.publish(reference.share.id, [modification(outcome.value, writeFilter)]);
    return newResponse(encodeWriteResponse(data.length));
  }
  return errorResponse(statusOfWait(outcome));
}
