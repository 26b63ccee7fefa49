import { readFile } from "../../file/filesystem/info.ts";
import { writeFile } from "../../file/filesystem/write.ts";
import { newResponse } from "../response.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import { requestOn, type FileHandle } from "../files/file-handle.ts";
import { Status, statusOf, type NtStatus } from "../status.ts";
import { waitForLocks } from "../files/wait-for-locks.ts";
import type { TreeRequest } from "../request.ts";
import { encodeIoctlResponse, type IoctlRequest } from "../wire/io.ts";
import { Reader } from "../wire/reader.ts";
import { Writer } from "../wire/writer.ts";
import type { ControlResult } from "./ioctl.ts";

/** Server-side copy ([MS-SMB2] 3.3.5.15.6): the client gets a resume key of the source handle, and
 *  sends it with the chunks to copy. The limits are those of Windows. */

const chunksMax = 256;
const chunkBytesMax = 1024 * 1024;
const totalBytesMax = 16 * 1024 * 1024;
const keyBytes = 24;
const chunkEntryBytes = 24;
const keyResponseBytes = 32;
const responseBytes = 12;

/** FSCTL_SRV_REQUEST_RESUME_KEY: the key of a source handle is its FileId. */
export function resumeKey(
  _: TreeRequest,
  { id }: FileHandle,
  { outputBytesMax }: IoctlRequest,
): ControlResult {
  if (outputBytesMax < keyResponseBytes) return Status.invalidParameter;
  return new Writer(keyResponseBytes).u64(id.persistent).u64(id.volatile).zeros(16).finish();
}

/** Copies chunks of a file to `target`. `rights`: whether the target handle must be readable,
 *  too. */
export async function copyChunks(
  request: TreeRequest,
  target: FileHandle,
  decoded: IoctlRequest,
  rights: "read-too" | "write-only",
): Promise<ControlResult> {
  if (decoded.outputBytesMax < responseBytes) return Status.invalidParameter;
  const copy = decodeCopy(decoded.input);
  if (copy === undefined) return Status.invalidParameter;
  const source = findSource(request, copy.source);
  if (source === undefined) return Status.objectNameNotFound;
  const total = copy.chunks.reduce((sum, { length }) => sum + length, 0);
  const isTooMuch =
    copy.chunks.length > chunksMax ||
    total > totalBytesMax ||
    copy.chunks.some(({ length }) => length === 0 || length > chunkBytesMax);
  if (isTooMuch) {
    const limits = new Writer(responseBytes).u32(chunksMax).u32(chunkBytesMax).u32(totalBytesMax);
    return newResponse(encodeIoctlResponse(decoded, limits.finish()), Status.invalidParameter);
  }
  if (target.isDirectory || source.isDirectory) return Status.invalidDeviceRequest;
  if (!has(source.access, Right.readData | Right.execute)) return Status.accessDenied;
  if (!has(target.access, Right.writeData)) return Status.accessDenied;
  if (rights === "read-too" && !has(target.access, Right.readData)) return Status.accessDenied;
  let count = 0;
  let copied = 0;
  let status: NtStatus | undefined;
  for (const chunk of copy.chunks) {
    status = await copyOne(request, source, target, chunk);
    if (status !== undefined) break;
    count += 1;
    copied += chunk.length;
  }
  // If a chunk fails, those before it stay copied; the response has their number and length.
  const data = new Writer(responseBytes).u32(count).u32(0).u32(copied).finish();
  return status === undefined ? data : newResponse(encodeIoctlResponse(decoded, data), status);
}

/** A copy request: the resume key of the source, and the chunks. Of too many chunks, only one more
 *  than permitted is decoded. */
function decodeCopy(input: Buffer) {
  const reader = new Reader(input);
  const source = reader.bytes(keyBytes);
  const count = Math.min(reader.u32(), chunksMax + 1);
  reader.skip(4);
  if (reader.remaining < count * chunkEntryBytes) return undefined;
  const chunks = Array.from({ length: count }, () => {
    const chunk = { from: reader.u64(), to: reader.u64(), length: reader.u32() };
    reader.skip(4);
    return chunk;
  });
  return reader.checked({ source, chunks });
}

type Chunk = NonNullable<ReturnType<typeof decodeCopy>>["chunks"][number];

function findSource({ session }: TreeRequest, key: Buffer): FileHandle | undefined {
  const handle = session.handles.get(key.readBigUInt64LE(8));
  const isMeant = handle?.kind === "file" && handle.id.persistent === key.readBigUInt64LE(0);
  return isMeant && key.readBigUInt64LE(16) === 0n ? handle : undefined;
}

/** Copies one chunk. Returns the status if that fails. */
async function copyOne(
  request: TreeRequest,
  source: FileHandle,
  target: FileHandle,
  { from, to, length }: Chunk,
): Promise<NtStatus | undefined> {
  const { runtime } = request.connection.server.world;
  const reading = await readFile(runtime, { ...requestOn(source), from: Number(from), length });
  if (reading.kind === "fault") {
    return reading.fault === "end-of-file" ? Status.invalidViewSize : statusOf(reading.fault);
  }
  const { reader, length: available } = reading.value;
  const bytes = Buffer.allocUnsafe(available);
  try {
    let at = 0;
    for await (const part of reader.read(Number(from), available)) {
      bytes.set(part, at);
      at += part.length;
    }
  } finally {
    reader.close();
  }
  if (available < length) return Status.invalidViewSize;
  const writing = { ...requestOn(target), at: Number(to), bytes };
  const outcome = await waitForLocks(request, () => writeFile(runtime, writing));
  return typeof outcome === "number" ? outcome : undefined;
}
