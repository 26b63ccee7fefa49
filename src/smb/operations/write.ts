import { writeFile } from "../../file/filesystem/write.ts";
import { newResponse, errorResponse, type SmbResponse } from "../response.ts";
import { transactBytesMax } from "../limits.ts";
import { coversBytes } from "../credit-charge.ts";
import { has, Right } from "../files/access.ts";
import { modification } from "../files/change-dispatcher.ts";
import { ChangeFilter } from "../files/directory-watch.ts";
import type { FileHandle } from "../files/file-handle.ts";
import { findHandle, isResponse } from "../files/lookup.ts";
import { statusOfWait, waitForLocks } from "../files/wait-for-locks.ts";
import type { TreeRequest } from "../request.ts";
import { Status } from "../status.ts";
import { decodeWrite, encodeWriteResponse, type WriteRequest } from "../wire/io.ts";
import { writePipe } from "./pipe.ts";

/** Offset of a write to the end of the file. */
const atEnd = 0xffff_ffff_ffff_ffffn;
const offsetMax = 0x7fff_ffff_ffff_ffffn;
/** End of the largest file of NTFS; clients expect this limit. */
const fileEndMax = 0xfff_ffff_0000n;

export async function write(request: TreeRequest): Promise<SmbResponse> {
  const asked = decodeWrite(request.message);
  if (asked === undefined || asked.data.length > transactBytesMax) {
    return errorResponse(Status.invalidParameter);
  }
  if (!coversBytes(request, asked.data.length)) return errorResponse(Status.invalidParameter);
  const handle = findHandle(request, asked.fileId);
  if (isResponse(handle)) return handle;
  if (handle.kind === "pipe") return writePipe(request, handle, asked.data);
  if (handle.isDirectory) return errorResponse(Status.invalidDeviceRequest);
  const mayWrite = has(handle.access, Right.writeData);
  if (!mayWrite && !has(handle.access, Right.appendData)) return errorResponse(Status.accessDenied);
  const isAppend = asked.offset === atEnd && !mayWrite;
  const end = asked.offset + BigInt(asked.data.length);
  const endMax = asked.data.length === 0 ? offsetMax : fileEndMax;
  if (!isAppend && end > endMax) return errorResponse(Status.invalidParameter);
  if (asked.data.length === 0) return newResponse(encodeWriteResponse(0));
  return writeBytes(request, handle, asked, isAppend ? "end" : Number(asked.offset));
}

const writeFilter = ChangeFilter.size | ChangeFilter.lastWrite;

async function writeBytes(
  { connection: { server }, tree, lifetime }: TreeRequest,
  handle: FileHandle,
  { data }: WriteRequest,
  at: number | "end",
): Promise<SmbResponse> {
  const { reference, keepsLastWrite, id } = handle;
  const writing = { reference, handle: id.persistent, keepsLastWrite, at, bytes: data };
  const outcome = await waitForLocks(server, tree.shareId, { lifetime }, () =>
    writeFile(server.world.runtime, writing),
  );
  if (outcome.kind === "done") {
    server.changeDispatcher.publish(reference.share.id, [modification(outcome.value, writeFilter)]);
    return newResponse(encodeWriteResponse(data.length));
  }
  return errorResponse(statusOfWait(outcome));
}
