import { lockFile, unlockFile } from "../../file/filesystem/lock.ts";
import type { LockRequest } from "../../file/locks/byte-ranges.ts";
import { emptyResponse, errorResponse, type SmbResponse } from "../response.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import type { FileHandle } from "../files/file-handle.ts";
import { findFile, isResponse } from "../files/lookup.ts";
import { Status, statusOf, type NtStatus } from "../status.ts";
import { waitForLocks } from "../files/wait-for-locks.ts";
import type { TreeRequest } from "../request.ts";
import { decodeLock, LockFlag, type LockElement } from "../wire/locking.ts";
import { Capability } from "../wire/protocol.ts";

const lockingRights = Right.readData | Right.writeData | Right.appendData;
/** A range may not extend beyond this offset. */
const offsetEnd = 1n << 64n;
const validLockFlags: ReadonlySet<number> = new Set([
  LockFlag.shared,
  LockFlag.exclusive,
  LockFlag.shared | LockFlag.failImmediately,
  LockFlag.exclusive | LockFlag.failImmediately,
]);

/** LOCK: locks or unlocks byte ranges, once even if the client repeats the request. */
export async function lock(request: TreeRequest): Promise<SmbResponse> {
  const decoded = decodeLock(request.message);
  if (decoded === undefined) return errorResponse(Status.invalidParameter);
  const handle = findFile(request, decoded.fileId);
  if (isResponse(handle)) return handle;
  if (handle.isDirectory) return errorResponse(Status.invalidParameter);
  if (!has(handle.access, lockingRights)) return errorResponse(Status.accessDenied);
  const slot = sequenceIndexOf(request, handle, decoded.sequence);
  // A client that did not receive the response sends the request again. It must not lock twice.
  if (slot !== undefined && handle.lockNumbers.get(slot) === (decoded.sequence & numberBits)) {
    return emptyResponse();
  }
  if (slot !== undefined) handle.lockNumbers.delete(slot);
  const answered = await lockOrUnlock(request, handle, decoded.elements);
  if (slot !== undefined && answered.status === Status.success) {
    handle.lockNumbers.set(slot, decoded.sequence & numberBits);
  }
  return answered;
}

const numberBits = 0xf;
const slotsMax = 64;

/** LockSequenceIndex of a request; undefined if it cannot be a repeated one. Only clients with a
 *  durable handle or several channels repeat requests. */
function sequenceIndexOf(
  { connection: { negotiated } }: TreeRequest,
  { durable }: FileHandle,
  sequence: number,
): number | undefined {
  const slot = sequence >>> 4;
  const joins = ((negotiated?.capabilities ?? 0) & Capability.multiChannel) !== 0;
  return (durable !== undefined || joins) && slot >= 1 && slot <= slotsMax ? slot : undefined;
}

async function lockOrUnlock(
  request: TreeRequest,
  handle: FileHandle,
  elements: readonly LockElement[],
): Promise<SmbResponse> {
  const unlocks = elements[0]?.flags === LockFlag.unlock;
  if (unlocks) return unlock(request, handle, elements);
  const wrong = checkElements(elements);
  if (wrong !== undefined) return errorResponse(wrong);
  const waits = ((elements[0]?.flags ?? 0) & LockFlag.failImmediately) === 0;
  return lockAll(request, handle, elements.map(requestOf), waits);
}

function requestOf({ offset, length, flags }: LockElement): LockRequest {
  return { offset, length, exclusive: (flags & LockFlag.exclusive) !== 0 };
}

/** The status of an invalid request. Only a request with a single lock may wait. */
function checkElements(elements: readonly LockElement[]): NtStatus | undefined {
  for (const { flags, offset, length } of elements) {
    if (!validLockFlags.has(flags)) return Status.invalidParameter;
    const waits = (flags & LockFlag.failImmediately) === 0;
    if (waits && elements.length > 1) return Status.invalidParameter;
    if (length > 0n && offset + length > offsetEnd) return Status.invalidLockRange;
  }
  return undefined;
}

async function lockAll(
  { connection: { server }, lifetime, session }: TreeRequest,
  handle: FileHandle,
  ranges: readonly LockRequest[],
  waits: boolean,
): Promise<SmbResponse> {
  const { reference, id } = handle;
  const request = { reference, handle: id.persistent, ranges, waits };
  const outcome = await waitForLocks(server, { lifetime, ranges }, () =>
    lockFile(server.world.runtime, request),
  );
  switch (outcome.kind) {
    case "done":
      return emptyResponse();
    case "fault": {
      // The handle or its session was closed while the lock request waited.
      const isClosed = outcome.fault === "file-closed" && lifetime.asyncId !== undefined;
      return errorResponse(isClosed ? Status.rangeNotLocked : statusOf(outcome.fault));
    }
    case "cancelled":
      return errorResponse(session.isValid ? Status.cancelled : Status.rangeNotLocked);
    case "cannot-wait":
      return errorResponse(outcome.status);
  }
}

async function unlock(
  { connection: { server } }: TreeRequest,
  { reference, id }: FileHandle,
  elements: readonly LockElement[],
): Promise<SmbResponse> {
  // The ranges before an invalid element are unlocked all the same.
  const wrong = elements.findIndex(({ flags }) => flags !== LockFlag.unlock);
  const ranges = wrong < 0 ? elements : elements.slice(0, wrong);
  const request = { reference, handle: id.persistent, ranges };
  const outcome = await unlockFile(server.world.runtime, request);
  if (outcome.kind === "fault") return errorResponse(statusOf(outcome.fault));
  return wrong < 0 ? emptyResponse() : errorResponse(Status.invalidParameter);
}
