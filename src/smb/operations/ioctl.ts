import {
  disconnect,
  newResponse,
  type CommandResult,
  exceedsLimits,
  type TreeRequest,
  waitForLocks,
} from "../request.ts";
import { requestOn, type FileHandle, findFile, findHandle, has } from "../files/file-handle.ts";
import { Status, statusOf, type NtStatus } from "../status.ts";
import { decodeIoctl, encodeIoctlResponse, type IoctlRequest } from "../wire/io.ts";
import { Writer, Reader } from "../wire/buffers.ts";
import { callPipe, takeFromPipe } from "./pipe.ts";
import { Dialect } from "../wire/protocol.ts";
import { isIPv4, isIPv6 } from "node:net";
import { isNoFile } from "../wire/header.ts";
import { formatIso } from "../../base/dates.ts";
import { writtenRanges, readFile } from "../../file/filesystem/info.ts";
import { zeroFile, writeFile } from "../../file/filesystem/write.ts";
import { Right } from "../../file/locks/access.ts";
import { listSnapshots } from "../files/shares.ts";

/** IOCTL: file system controls (FSCTL), each of them a small command of its own, by code ([MS-SMB2]
 *  3.3.5.15). Server-side copy comes first. */

/* Server-side copy ([MS-SMB2] 3.3.5.15.6): the client gets a resume key of the source handle, and
 * sends it with the chunks to copy. The limits of a request are those of Windows. */

const chunksMax = 256;
const chunkBytesMax = 1024 * 1024;
const totalBytesMax = 16 * 1024 * 1024;
const keyBytes = 24;
const chunkEntryBytes = 24;
const keyResponseBytes = 32;
const responseBytes = 12;

/** FSCTL_SRV_REQUEST_RESUME_KEY: the key of a source handle is its FileId. */
function resumeKey(
  _: TreeRequest,
  { id }: FileHandle,
  { outputBytesMax }: IoctlRequest,
): ControlResult {
  if (outputBytesMax < keyResponseBytes) return Status.invalidParameter;
  return new Writer(keyResponseBytes).u64(id.persistent).u64(id.volatile).zeros(16).finish();
}

/** FSCTL_SRV_COPYCHUNK: copies chunks of a file to `target`. FSCTL_SRV_COPYCHUNK_WRITE differs in
 *  `rights`: the target handle need not be readable. */
async function copyChunks(
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

/** The resume key of the source and the chunks in a copy request. Of too many chunks only one more
 *  than permitted is decoded, enough to reject the request. */
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

/** Copies one chunk; undefined if it was copied, otherwise the status of the error. */
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

const dialectsMax = 64;
const answerBytes = 24;

/** FSCTL_VALIDATE_NEGOTIATE_INFO: the client repeats its NEGOTIATE in a signed message. If the two
 *  differ, an attacker has changed the first, which is not signed, and the connection is closed. */
function validateNegotiate(
  { connection }: TreeRequest,
  { input, outputBytesMax }: IoctlRequest,
): ControlResult {
  const { negotiated, server } = connection;
  if (negotiated === undefined || negotiated.dialect === Dialect.v311) return disconnect;
  const reader = new Reader(input);
  const capabilities = reader.u32();
  const guid = reader.bytes(16);
  const securityMode = reader.u16();
  const count = reader.u16();
  if (count > dialectsMax) return disconnect;
  const dialects = Array.from({ length: count }, () => reader.u16());
  if (!reader.intact) return disconnect;
  if (outputBytesMax < answerBytes) return Status.invalidParameter;
  const isSame =
    capabilities === negotiated.clientCapabilities &&
    guid.equals(negotiated.clientGuid) &&
    securityMode === negotiated.clientSecurityMode &&
    dialects.join() === negotiated.clientDialects.join();
  if (!isSame) return disconnect;
  return new Writer(answerBytes)
    .u32(negotiated.capabilities)
    .bytes(server.guid)
    .u16(server.securityMode)
    .u16(negotiated.dialect)
    .finish();
}

const entryBytes = 152;
const addressBytes = 128;
const interfaceIndex = 1;
/** The link speed that is reported; the real one is not known. */
const bitsPerSecond = 10_000_000_000n;
const internetFamily = 2;
const internet6Family = 0x17;
const mappedPrefix = "::ffff:";

/** FSCTL_QUERY_NETWORK_INTERFACE_INFO ([MS-SMB2] 2.2.32.5). Lists only the address to which the
 *  client is connected, because the server may not listen on further addresses. */
function networkInterfaces(
  { connection: { dialect, localAddress } }: TreeRequest,
  { fileId, outputBytesMax }: IoctlRequest,
): ControlResult {
  if (dialect < Dialect.v300) return Status.notSupported;
  if (!isNoFile(fileId)) return Status.invalidParameter;
  if (outputBytesMax < entryBytes) return Status.bufferTooSmall;
  const head = new Writer(entryBytes).u32(0).u32(interfaceIndex).u32(0).u32(0).u64(bitsPerSecond);
  return head.bytes(socketAddress(localAddress)).finish();
}

function socketAddress(text: string): Buffer {
  const plain = text.startsWith(mappedPrefix) ? text.slice(mappedPrefix.length) : text;
  const writer = new Writer(addressBytes);
  if (isIPv4(plain)) {
    writer
      .u16(internetFamily)
      .u16(0)
      .bytes(Buffer.from(plain.split(".").map(Number)));
  } else {
    const address = isIPv6(plain) ? bytesOfIPv6(plain) : Buffer.alloc(16);
    writer.u16(internet6Family).u16(0).u32(0).bytes(address);
  }
  return writer.zeros(addressBytes - writer.length).finish();
}

const groupsMax = 8;

/** The 16 bytes of an IPv6 address. It comes from the system, so it is well-formed. A zone is left
 *  out, because it is valid only on this machine. */
function bytesOfIPv6(text: string): Buffer {
  const [left = "", right] = text.split("%", 1)[0]!.split("::");
  const groupsOf = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const head = groupsOf(left);
  const tail = right === undefined ? [] : groupsOf(right);
  const gap = Math.max(0, groupsMax - head.length - tail.length);
  const writer = new Writer(16);
  for (const group of [...head, ...Array<number>(gap).fill(0), ...tail]) {
    writer.u8(group >> 8).u8(group & 0xff);
  }
  return writer.finish();
}

/** The output of a control, which `ioctl` puts into the response, or a whole response or error. */
type ControlResult = Buffer | CommandResult;
type FileControl = (
  request: TreeRequest,
  handle: FileHandle,
  decoded: IoctlRequest,
) => ControlResult | Promise<ControlResult>;

/** Codes of the controls that need no open file ([MS-FSCC] 2.3). */
const Control = {
  dfsReferrals: 0x0006_0194,
  dfsReferralsEx: 0x0006_01b0,
  pipeTransceive: 0x0011_c017,
  pipeWait: 0x0011_0018,
  validateNegotiate: 0x0014_0204,
  networkInterfaces: 0x0014_01fc,
} as const;

/** Controls on an open file, by FSCTL code ([MS-FSCC] 2.3). */
const fileControls: Readonly<Record<number, FileControl>> = {
  0x0014_0078: resumeKey,
  0x0014_40f2: (request, handle, decoded) => copyChunks(request, handle, decoded, "read-too"),
  0x0014_80f2: (request, handle, decoded) => copyChunks(request, handle, decoded, "write-only"),
  0x0014_4064: enumerateSnapshots,
  0x0009_80c8: zeroData,
  0x0009_40cf: allocatedRanges,
  0x0009_003c: () => Buffer.alloc(2),
  0x0009_c040: (_, __, { input }) => {
    const isNone = input.length >= 2 && input.readUInt16LE() === 0;
    return isNone ? Buffer.alloc(0) : Status.notSupported;
  },
  0x0009_00c0: objectId,
  0x0009_00a8: () => Status.notAReparsePoint,
};

/** IOCTL: runs the file system control (FSCTL) that the request names by its code. */
export async function ioctl(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeIoctl(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  const { outputBytesMax, input } = decoded;
  const moved = Math.max(outputBytesMax, input.length);
  if (exceedsLimits(request, outputBytesMax, moved)) return Status.invalidParameter;
  if (!decoded.isFileSystemControl) return Status.notSupported;
  const result = await run(request, decoded);
  if (!Buffer.isBuffer(result)) return result;
  return newResponse(encodeIoctlResponse(decoded, result));
}

async function run(request: TreeRequest, decoded: IoctlRequest): Promise<ControlResult> {
  switch (decoded.code) {
    case Control.dfsReferrals:
    case Control.dfsReferralsEx:
      return Status.notFound;
    case Control.validateNegotiate:
      return validateNegotiate(request, decoded);
    case Control.networkInterfaces:
      return networkInterfaces(request, decoded);
    case Control.pipeWait:
      return Status.notSupported;
    case Control.pipeTransceive:
      return transceive(request, decoded);
    default: {
      const control = fileControls[decoded.code];
      const handle = findFile(request, decoded.fileId);
      if (typeof handle === "number") return handle;
      return control === undefined
        ? Status.invalidDeviceRequest
        : control(request, handle, decoded);
    }
  }
}

const objectIdBytes = 64;

/** FSCTL_CREATE_OR_GET_OBJECT_ID: the object id is derived from the file id, so that it need not be
 *  stored. */
function objectId(
  { tree }: TreeRequest,
  { reference }: FileHandle,
  { outputBytesMax }: IoctlRequest,
): ControlResult {
  if (outputBytesMax < objectIdBytes) return Status.invalidParameter;
  return new Writer(objectIdBytes).u64(reference.file).u64(tree.share.id).zeros(48).finish();
}

/** FSCTL_PIPE_TRANSCEIVE: writes a call to a pipe and reads its response in one request. */
async function transceive(request: TreeRequest, decoded: IoctlRequest): Promise<ControlResult> {
  const handle = findHandle(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  if (handle.kind !== "pipe") return Status.invalidDeviceRequest;
  if (!(await callPipe(request, handle, decoded.input))) return Status.invalidParameter;
  const { bytes, isCut } = takeFromPipe(handle, decoded.outputBytesMax);
  const body = encodeIoctlResponse(decoded, bytes);
  return newResponse(body, isCut ? Status.bufferOverflow : Status.success);
}

const rangeBytes = 16;
const snapshotHeadBytes = 12;

/** FSCTL_SRV_ENUMERATE_SNAPSHOTS: lists the share snapshots, newest first, by their time in whole
 *  seconds. */
async function enumerateSnapshots(
  { connection, tree }: TreeRequest,
  _: FileHandle,
  { outputBytesMax }: IoctlRequest,
): Promise<ControlResult> {
  if (outputBytesMax < rangeBytes) return Status.invalidParameter;
  const found = await listSnapshots(connection.server.world.runtime, tree.share.id);
  const names = found.toReversed().map(({ at }) => tokenOf(formatIso(at)));
  const text = Buffer.from(`${names.map((name) => `${name}\0`).join("")}\0`, "utf16le");
  const fits = snapshotHeadBytes + text.length <= outputBytesMax;
  const writer = new Writer()
    .u32(names.length)
    .u32(fits ? names.length : 0)
    .u32(text.length);
  return fits ? writer.bytes(text).finish() : writer.zeros(4).finish();
}

/** Formats `2026-01-02T03:04:05…` as `@GMT-2026.01.02-03.04.05`. */
function tokenOf(iso: string): string {
  const date = iso.slice(0, 10).replaceAll("-", ".");
  const time = iso.slice(11, 19).replaceAll(":", ".");
  return `@GMT-${date}-${time}`;
}

/** FSCTL_SET_ZERO_DATA: writes zeros, and frees the storage of whole sectors. */
async function zeroData(
  request: TreeRequest,
  handle: FileHandle,
  { input }: IoctlRequest,
): Promise<ControlResult> {
  if (input.length < rangeBytes) return Status.invalidParameter;
  if (handle.isDirectory) return Status.invalidParameter;
  if (!has(handle.access, Right.writeData)) return Status.accessDenied;
  const from = input.readBigInt64LE(0);
  const beyond = input.readBigInt64LE(8);
  if (from < 0n || beyond < from) return Status.invalidParameter;
  const span = { from: Number(from), length: Number(beyond - from) };
  const zeroing = { ...requestOn(handle), span };
  const outcome = await waitForLocks(request, (runtime) => zeroFile(runtime, zeroing));
  return typeof outcome === "number" ? outcome : Buffer.alloc(0);
}

/** FSCTL_QUERY_ALLOCATED_RANGES: lists the ranges that were written and not cleared, as List Ranges
 *  does. */
async function allocatedRanges(
  { connection }: TreeRequest,
  handle: FileHandle,
  decoded: IoctlRequest,
): Promise<ControlResult> {
  const { input, outputBytesMax } = decoded;
  if (input.length < rangeBytes) return Status.invalidParameter;
  if (!has(handle.access, Right.readData)) return Status.accessDenied;
  const from = input.readBigInt64LE(0);
  const length = input.readBigInt64LE(8);
  if (from < 0n || length < 0n || from + length > 0x7fff_ffff_ffff_ffffn) {
    return Status.invalidParameter;
  }
  const { runtime } = connection.server.world;
  const span = { from: Number(from), length: Number(length) };
  const found = await writtenRanges(runtime, { ...requestOn(handle), span });
  if (found.kind === "fault") return statusOf(found.fault);
  const roomFor = Math.floor(outputBytesMax / rangeBytes);
  const writer = new Writer();
  for (const range of found.value.slice(0, roomFor)) {
    writer.u64(BigInt(range.from)).u64(BigInt(range.to - range.from));
  }
  const isCut = found.value.length > roomFor;
  if (isCut && roomFor === 0) return Status.bufferTooSmall;
  const body = encodeIoctlResponse(decoded, writer.finish());
  return newResponse(body, isCut ? Status.bufferOverflow : Status.success);
}
