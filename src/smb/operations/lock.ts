import {
  lockFile,
  unlockFile,
  acknowledge,
  type Acknowledgement,
} from "../../file/filesystem/lock.ts";
import {
  emptyResponse,
  type CommandResult,
  type TreeRequest,
  waitForLocks,
  newResponse,
  type SessionRequest,
} from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has, requestOn, type FileHandle, findFile } from "../files/file-handle.ts";
import { Status, statusOf, type NtStatus } from "../status.ts";
import {
  decodeLock,
  LockFlag,
  type LockElement,
  decodeBreak,
  encodeLeaseBreakResponse,
  encodeOplockBreak,
  type BreakAcknowledgement,
} from "../wire/io.ts";
import { Capability, OplockLevel } from "../wire/protocol.ts";
import { cacheRead } from "../../file/locks/lock-state.ts";
import { leaseKeyOf } from "../files/caching-choice.ts";

/** LOCK, which locks byte ranges, and OPLOCK_BREAK, with which a client returns a caching grant. */

/** LOCK needs a handle with one of these rights. */
const lockingRights = Right.readData | Right.writeData | Right.appendData;
/** A locked range must end at or before this: offsets have 64 bits. */
const offsetEnd = 1n << 64n;
const validLockFlags: ReadonlySet<number> = new Set([
  LockFlag.shared,
  LockFlag.exclusive,
  LockFlag.shared | LockFlag.failImmediately,
  LockFlag.exclusive | LockFlag.failImmediately,
]);

/** LOCK: locks or unlocks byte ranges. A request that the client repeats has no second effect. */
export async function lock(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeLock(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  const handle = findFile(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  if (handle.isDirectory) return Status.invalidParameter;
  if (!has(handle.access, lockingRights)) return Status.accessDenied;
  const { elements, sequence } = decoded;
  const slot = sequenceIndexOf(request, handle, sequence);
  const number = sequence & numberBits;
  // A client that did not receive the response sends the request again. It must not lock twice.
  if (slot !== undefined && handle.lockNumbers.get(slot) === number) return emptyResponse();
  if (slot !== undefined) handle.lockNumbers.delete(slot);
  const unlocks = elements[0]?.flags === LockFlag.unlock;
  const failure = await (unlocks ? unlock : lockAll)(request, handle, elements);
  if (failure !== undefined) return failure;
  if (slot !== undefined) handle.lockNumbers.set(slot, number);
  return emptyResponse();
}

/** LockSequence in LOCK, by which a repeated request is recognised: the low bits, with this mask,
 *  are a number that the client changes whenever it uses a slot again; the others are the slot, 1
 *  to 64. The handle keeps the last number of each slot: the same one again is a repeated request.
 *  */
const numberBits = 0xf;
const slotsMax = 64;

/** The slot (LockSequenceIndex) of a LOCK; undefined if it cannot be a repeated request, because
 *  only clients with a durable handle or several channels repeat requests. */
function sequenceIndexOf(
  { connection: { negotiated } }: TreeRequest,
  { durable }: FileHandle,
  sequence: number,
): number | undefined {
  const slot = sequence >>> 4;
  const joins = ((negotiated?.capabilities ?? 0) & Capability.multiChannel) !== 0;
  return (durable !== undefined || joins) && slot >= 1 && slot <= slotsMax ? slot : undefined;
}

/** The status of an invalid LOCK; undefined if it is valid. Only a single lock may wait. */
function checkElements(elements: readonly LockElement[]): NtStatus | undefined {
  for (const { flags, offset, length } of elements) {
    if (!validLockFlags.has(flags)) return Status.invalidParameter;
    const waits = (flags & LockFlag.failImmediately) === 0;
    if (waits && elements.length > 1) return Status.invalidParameter;
    if (length > 0n && offset + length > offsetEnd) return Status.invalidLockRange;
  }
  return undefined;
}

/** Locks all ranges of a LOCK or none, waiting for conflicting locks if the client wants that. The
 *  result is undefined, or the status of the error. */
async function lockAll(
  request: TreeRequest,
  handle: FileHandle,
  elements: readonly LockElement[],
): Promise<NtStatus | undefined> {
  const invalid = checkElements(elements);
  if (invalid !== undefined) return invalid;
  const ranges = elements.map(({ offset, length, flags }) => {
    return { offset, length, exclusive: (flags & LockFlag.exclusive) !== 0 };
  });
  const waits = ((elements[0]?.flags ?? 0) & LockFlag.failImmediately) === 0;
  const locking = { ...requestOn(handle), ranges, waits };
  const outcome = await waitForLocks(request, (runtime) => lockFile(runtime, locking), ranges);
  if (typeof outcome !== "number") return undefined;
  // Whether the handle or its session was closed while the request waited.
  const isClosed =
    outcome === Status.fileClosed
      ? request.lifetime.asyncId !== undefined
      : outcome === Status.cancelled && !request.session.isValid;
  return isClosed ? Status.rangeNotLocked : outcome;
}

/** Unlocks the ranges of a LOCK, up to an invalid one. The result is undefined, or the status of a
 *  range that is invalid or not locked. */
async function unlock(
  { connection: { server } }: TreeRequest,
  handle: FileHandle,
  elements: readonly LockElement[],
): Promise<NtStatus | undefined> {
  const invalidAt = elements.findIndex(({ flags }) => flags !== LockFlag.unlock);
  const ranges = invalidAt < 0 ? elements : elements.slice(0, invalidAt);
  const outcome = await unlockFile(server.world.runtime, { ...requestOn(handle), ranges });
  if (outcome.kind === "fault") return statusOf(outcome.fault);
  return invalidAt < 0 ? undefined : Status.invalidParameter;
}

/** OPLOCK_BREAK: a client acknowledges the break of an oplock or SMB lease. */
export async function oplockBreak(request: SessionRequest): Promise<CommandResult> {
  const decoded = decodeBreak(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  return decoded.kind === "lease"
    ? leaseAcknowledged(request, decoded)
    : oplockAcknowledged(request, decoded);
}

async function oplockAcknowledged(
  request: SessionRequest,
  { fileId, level }: Extract<BreakAcknowledgement, { kind: "oplock" }>,
): Promise<CommandResult> {
  const handle = request.session.handles.get(fileId.volatile);
  if (handle?.kind !== "file" || handle.id.persistent !== fileId.persistent) {
    return Status.fileClosed;
  }
  if (handle.cache === undefined || handle.cache.lease !== undefined) {
    return Status.invalidParameter;
  }
  if (level !== OplockLevel.none && level !== OplockLevel.shared) return Status.invalidParameter;
  const kept = level === OplockLevel.shared ? cacheRead : 0;
  const failure = await storeAcknowledgement(request, handle, kept, oplockFailures);
  return failure ?? newResponse(encodeOplockBreak(level, fileId));
}

async function leaseAcknowledged(
  request: SessionRequest,
  { key, state }: Extract<BreakAcknowledgement, { kind: "lease" }>,
): Promise<CommandResult> {
  const { connection } = request;
  const [handle] = connection.server.breakNotifier.handlesOf(leaseKeyOf(connection, key));
  if (handle === undefined) return Status.objectNameNotFound;
  const failure = await storeAcknowledgement(request, handle, state, leaseFailures);
  return failure ?? newResponse(encodeLeaseBreakResponse(key, state));
}

/** The status for each reason to reject an acknowledgement. */
type Failures = Readonly<Record<Exclude<Acknowledgement, "done">, NtStatus>>;

const oplockFailures: Failures = {
  "no-such-cache": Status.invalidOplockProtocol,
  "not-breaking": Status.invalidOplockProtocol,
  "too-much": Status.invalidOplockProtocol,
};

const leaseFailures: Failures = {
  "no-such-cache": Status.objectNameNotFound,
  "not-breaking": Status.unsuccessful,
  "too-much": Status.requestNotAccepted,
};

/** Stores the acknowledgement of a break: the client keeps only the caching rights `kept`. The
 *  result is undefined, or the status of an invalid acknowledgement. */
async function storeAcknowledgement(
  { connection: { server } }: SessionRequest,
  handle: FileHandle,
  kept: number,
  failures: Failures,
): Promise<NtStatus | undefined> {
  const key = handle.cache?.key ?? "";
  server.replays.remove(handle);
  const notified = server.breakNotifier.beginAcknowledgement(handle, kept);
  const acknowledgement = { reference: handle.reference, key, kept };
  const outcome = await acknowledge(server.world.runtime, acknowledgement);
  server.breakNotifier.finishAcknowledgement(handle, notified, outcome === "done");
  return outcome === "done" ? undefined : failures[outcome];
}
