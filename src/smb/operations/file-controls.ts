import { formatIso } from "../../base/dates.ts";
import { writtenRanges } from "../../file/filesystem/info.ts";
import { zeroFile } from "../../file/filesystem/write.ts";
import { newResponse } from "../response.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import type { FileHandle } from "../files/file-handle.ts";
import { listSnapshots } from "../files/shares.ts";
import { Status, statusOf } from "../status.ts";
import { statusOfWait, waitForLocks } from "../files/wait-for-locks.ts";
import type { TreeRequest } from "../request.ts";
import { encodeIoctlResponse, type IoctlRequest } from "../wire/ioctl.ts";
import { Writer } from "../wire/writer.ts";
import type { ControlResult } from "./ioctl.ts";

const rangeBytes = 16;
const snapshotHeadBytes = 12;

/** FSCTL_SRV_ENUMERATE_SNAPSHOTS: lists the share snapshots, newest first, by their time in whole
 *  seconds. */
export async function enumerateSnapshots(
  { connection, tree }: TreeRequest,
  _: FileHandle,
  { outputBytesMax }: IoctlRequest,
): Promise<ControlResult> {
  if (outputBytesMax < rangeBytes) return Status.invalidParameter;
  const found = await listSnapshots(connection.server.world.runtime, tree.shareId);
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

/** FSCTL_SET_ZERO_DATA. */
export async function zeroData(
  { connection: { server }, lifetime }: TreeRequest,
  handle: FileHandle,
  { input }: IoctlRequest,
): Promise<ControlResult> {
  if (input.length < rangeBytes) return Status.invalidParameter;
  if (handle.isDirectory) return Status.invalidParameter;
  if (!has(handle.access, Right.writeData)) return Status.accessDenied;
  const from = input.readBigInt64LE(0);
  const beyond = input.readBigInt64LE(8);
  if (from < 0n || beyond < from) return Status.invalidParameter;
  const { reference, id, keepsLastWrite } = handle;
  const span = { from: Number(from), length: Number(beyond - from) };
  const zeroing = { reference, handle: id.persistent, keepsLastWrite, span };
  const outcome = await waitForLocks(server, { lifetime }, () =>
    zeroFile(server.world.runtime, zeroing),
  );
  return outcome.kind === "done" ? Buffer.alloc(0) : statusOfWait(outcome);
}

/** FSCTL_QUERY_ALLOCATED_RANGES: lists the ranges that were written and not cleared, as List Ranges
 *  does. */
export async function allocatedRanges(
  { connection }: TreeRequest,
  handle: FileHandle,
  decoded: IoctlRequest,
): Promise<ControlResult> {
  const { input, outputBytesMax, code, fileId } = decoded;
  if (input.length < rangeBytes) return Status.invalidParameter;
  if (!has(handle.access, Right.readData)) return Status.accessDenied;
  const from = input.readBigInt64LE(0);
  const length = input.readBigInt64LE(8);
  if (from < 0n || length < 0n || from + length > 0x7fff_ffff_ffff_ffffn) {
    return Status.invalidParameter;
  }
  const { runtime } = connection.server.world;
  const { reference, id } = handle;
  const span = { from: Number(from), length: Number(length) };
  const found = await writtenRanges(runtime, { reference, handle: id.persistent, span });
  if (found.kind === "fault") return statusOf(found.fault);
  const roomFor = Math.floor(outputBytesMax / rangeBytes);
  const writer = new Writer();
  for (const range of found.value.slice(0, roomFor)) {
    writer.u64(BigInt(range.from)).u64(BigInt(range.to - range.from));
  }
  const isCut = found.value.length > roomFor;
  if (isCut && roomFor === 0) return Status.bufferTooSmall;
  const body = encodeIoctlResponse(code, fileId, writer.finish());
  return newResponse(body, isCut ? Status.bufferOverflow : Status.success);
}
