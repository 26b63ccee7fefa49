import { acquireSealed, freeBytes, releaseSealed } from "./bytes.ts";

/** Buffers of encrypted bytes on their way to and from extents, which are used again
 *  (`content/extents/encrypted-files.ts`): allocating one for every read of 1 MiB cost several
 *  times as much as to decrypt it. */

/** Takes a region in one chunk, with its seal. */
const smallBytes = 66 * 1024;
/** Takes the chunks and seals of the longest read, 1 MiB (`content/reader.ts`). */
const largeBytes = 1104 * 1024;
/** Limits of the unused buffers that are kept. */
const smallFreeMax = 64;
const largeFreeMax = 8;

const free = new Map<number, Buffer[]>([
  [smallBytes, []],
  [largeBytes, []],
]);

/** A buffer of at least this length. */
export function takeBuffer(length: number): Buffer {
  const bytes = length <= smallBytes ? smallBytes : Math.max(length, largeBytes);
  return free.get(bytes)?.pop() ?? Buffer.allocUnsafeSlow(bytes);
}

/** Takes back a buffer that nothing reads or writes any more. */
export function returnBuffer(buffer: Buffer): void {
  const kept = free.get(buffer.length);
  const keptMax = buffer.length === smallBytes ? smallFreeMax : largeFreeMax;
  if (kept !== undefined && kept.length < keptMax) kept.push(buffer);
  else freeBytes(buffer);
}

/** Writes that wait for an aligned buffer, in their order. */
const waiting: ((buffer: Buffer) => void)[] = [];

/** A buffer for a group of encrypted chunks that can be written past the system's cache. There are
 *  few: if all are being written, the disk is busy. */
export function takeAligned(): Buffer | Promise<Buffer> {
  return acquireSealed() ?? new Promise((resolve) => waiting.push(resolve));
}

export function returnAligned(buffer: Buffer): void {
  const next = waiting.shift();
  if (next === undefined) releaseSealed(buffer);
  else next(buffer);
}
