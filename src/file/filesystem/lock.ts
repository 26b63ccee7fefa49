import type { Runtime } from "../../operation/work.ts";
import { acknowledgeBreak, type AcknowledgeResult } from "../locks/caching.ts";
import { lockRanges, unlockRanges, type ByteSpan, type LockRequest } from "../locks/byte-ranges.ts";
import { checkDataAccess, handleAccess } from "../locks/file-access.ts";
import type { LockState } from "../locks/lock-state.ts";
import { executeAtOnce, type SmbOperation, callOf, callAtOnce } from "./execute-operation.ts";
import type { FileReference } from "./file-reference.ts";
import { isOpen, loadLocks, putLocks, stopFor, waitFor } from "./handle-operation.ts";
import type { HandleRequest } from "./handle-operation.ts";

/** Operations of SMB clients on the lock state of a file alone: byte-range locks, and
 *  acknowledgements of breaks. */

/** An operation that reads and writes the lock state of a file, but not its record. */
interface LockOperation<Request, Value> extends SmbOperation<
  Request,
  { readonly locks: LockState },
  undefined,
  Value
> {}

type Load<Request> = LockOperation<Request, never>["load"];

/** The `load` of lock and unlock: the lock state; a fault if the handle is not open any more. */
const loadOpenLocks: Load<HandleRequest> = async (view, { reference, handle }) => {
  if (reference.snapshot !== undefined) return { fault: "file-closed" };
  const locks = await loadLocks(view, reference.share.id, reference.file);
  return isOpen(locks, handle) ? { locks } : { fault: "file-closed" };
};

/** The `load` of operations without a handle: the acknowledgement of a break names a caching grant,
 *  which several handles can share. */
const loadAnyLocks: Load<{ readonly reference: FileReference }> = async (view, { reference }) => ({
  locks: await loadLocks(view, reference.share.id, reference.file),
});

interface LockRangesRequest extends HandleRequest {
  readonly ranges: readonly LockRequest[];
  /** Whether to wait until the ranges are free instead of failing. */
  readonly waits?: boolean;
}

/** SMB LOCK: locks all ranges or none; a fault or a wait locks nothing. */
export const lockOperation: LockOperation<LockRangesRequest, undefined> = {
  name: "lock",
  effect: "writes",
  event: "none",
  load: loadOpenLocks,
  decide: ({ request: { reference, handle, ranges, waits }, loaded: { locks }, now }) => {
    const share = reference.share.id;
    const outcome = lockRanges(locks, handle, ranges);
    const file = { share, id: reference.file, now };
    if (!outcome.ok) {
      const mayWait = waits === true && outcome.refusal === "lock-not-granted";
      return mayWait ? waitFor(file, []) : { fault: outcome.refusal };
    }
    const access = checkDataAccess(outcome.state, handleAccess.lock, { now, handle });
    if (access.kind === "pass") {
      return { value: undefined, effects: [putLocks(share, reference.file, access.state)] };
    }
    if (access.kind === "fault") return { fault: access.fault };
    const unlocked = { ...access.state, ranges: locks.ranges };
    return stopFor({ ...access, state: unlocked }, file);
  },
};

export const lockFile = callOf(lockOperation);

interface UnlockRangesRequest extends HandleRequest {
  readonly ranges: readonly ByteSpan[];
}

/** Unlocks ranges in order. If one is not locked, the operation fails, and the ranges before it
 *  stay unlocked ([MS-SMB2] 3.3.5.14.1). */
export const unlockOperation: LockOperation<UnlockRangesRequest, undefined> = {
  name: "unlock",
  effect: "writes",
  event: "none",
  load: loadOpenLocks,
  decide: ({ request: { reference, handle, ranges }, loaded: { locks } }) => {
    const outcome = unlockRanges(locks, handle, ranges);
    const effects = [putLocks(reference.share.id, reference.file, outcome.state)];
    return outcome.ok ? { value: undefined, effects } : { fault: outcome.refusal, effects };
  },
};

export const unlockFile = callAtOnce(unlockOperation);

/** The outcome of an acknowledgement: `done`, or why it was not valid. */
export type Acknowledgement = "done" | Extract<AcknowledgeResult, string>;

interface AcknowledgeRequest {
  readonly reference: FileReference;
  readonly key: string;
  /** The caching rights that the client keeps. */
  readonly kept: number;
}

/** Stores a client's acknowledgement of a break, by which its caching grant is reduced: operations
 *  that wait for it continue. */
const acknowledgeOperation: LockOperation<AcknowledgeRequest, Acknowledgement> = {
  name: "acknowledge break",
  effect: "writes",
  event: "none",
  load: loadAnyLocks,
  decide: ({ request: { reference, key, kept }, loaded: { locks }, now }) => {
    const next = acknowledgeBreak(locks, { key, kept, now });
    if (typeof next === "string") return { value: next };
    return { value: "done", effects: [putLocks(reference.share.id, reference.file, next)] };
  },
};

export async function acknowledge(
  runtime: Runtime,
  request: AcknowledgeRequest,
): Promise<Acknowledgement> {
  const outcome = await executeAtOnce(runtime, acknowledgeOperation, request);
  if (outcome.kind === "fault") throw new Error("the lock state of every file can be read");
  return outcome.value;
}

const lockStateOperation: LockOperation<{ readonly reference: FileReference }, LockState> = {
  name: "read lock state",
  effect: "reads",
  event: "none",
  load: loadAnyLocks,
  decide: ({ loaded: { locks } }) => ({ value: locks }),
};

export async function lockStateOf(runtime: Runtime, reference: FileReference): Promise<LockState> {
  const outcome = await executeAtOnce(runtime, lockStateOperation, { reference });
  if (outcome.kind === "fault") throw new Error("the lock state of every file can be read");
  return outcome.value;
}
