import { readFile, type FileReadResult } from "../../file/filesystem/read.ts";
import { errorResponse, type SmbResponse } from "../response.ts";
import { transactBytesMax } from "../limits.ts";
import { coversBytes } from "../credit-charge.ts";
import { has, Right } from "../files/access.ts";
import { findHandle, isResponse } from "../files/lookup.ts";
import { statusOf } from "../files/status-of.ts";
import type { TreeRequest } from "../request.ts";
import { Status } from "../status.ts";
import { decodeRead, newReadResponse, type ReadRequest } from "../wire/io.ts";
import { readPipe } from "./pipe.ts";
import type { FileHandle } from "../files/file-handle.ts";

const offsetMax = 0x7fff_ffff_ffff_ffffn;

export async function read(request: TreeRequest): Promise<SmbResponse> {
  const asked = decodeRead(request.message);
  if (asked === undefined || asked.length > transactBytesMax) {
    return errorResponse(Status.invalidParameter);
  }
  if (!coversBytes(request, asked.length)) return errorResponse(Status.invalidParameter);
  const handle = findHandle(request, asked.fileId);
  if (isResponse(handle)) return handle;
  if (handle.kind === "pipe") return readPipe(handle, asked.length);
  if (handle.isDirectory) return errorResponse(Status.invalidDeviceRequest);
  if (!has(handle.access, Right.readData | Right.execute))
    return errorResponse(Status.accessDenied);
  if (asked.offset + BigInt(asked.length) > offsetMax)
    return errorResponse(Status.invalidParameter);
  return readBytes(request, handle, asked);
}

async function readBytes(
  { connection }: TreeRequest,
  handle: FileHandle,
  asked: ReadRequest,
): Promise<SmbResponse> {
  // Exact: file lengths are below 2^53.
  const from = Number(asked.offset);
  const outcome = await readFile(connection.server.world.runtime, {
    reference: handle.reference,
    handle: handle.id.persistent,
    from,
    length: asked.length,
  });
  if (outcome.kind === "fault") return errorResponse(statusOf(outcome.fault));
  const { reader, length } = outcome.value;
  try {
    if (length < asked.minimum) return errorResponse(Status.endOfFile);
    const { message, data } = newReadResponse(length);
    await fill(outcome.value, from, data);
    handle.position = asked.offset + BigInt(length);
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
