import type { Runtime } from "../../operation/execute.ts";
import { acknowledgeBreak, type Acknowledged } from "../locks/caching.ts";
import { lockRanges, unlockRanges, type ByteSpan, type LockRequest } from "../locks/byte-ranges.ts";
import { checkDataAccess, handleAccess } from "../locks/file-access.ts";
import type { LockState } from "../locks/lock-state.ts";
import { executeAtOnce, executeOperation, type SmbOperation } from "./execute-operation.ts";
import type { FilePlace } from "./file-place.ts";
import type { FileResult, FileResultOrWait } from "./file-result.ts";
import { isOpen, loadLocks, putLocks, stopFor } from "./handle-operation.ts";
import type { HandleRequest } from "./handle-operation.ts";

/** An operation on the lock state alone: the file itself is not read. */
interface LockOperation<Request, Value> extends SmbOperation<
  Request,
  { readonly locks: LockState },
  undefined,
  Value
> {}

type Load<Request> = LockOperation<Request, never>["load"];

const loadOpenLocks: Load<HandleRequest> = async (view, { place, handle }) => {
  if (place.snapshot !== undefined) return { fault: "file-closed" };
  const locks = await loadLocks(view, place.share.id, place.file);
  return isOpen(locks, handle) ? { locks } : { fault: "file-closed" };
};

const loadAnyLocks: Load<{ readonly place: FilePlace }> = async (view, { place }) => ({
  locks: await loadLocks(view, place.share.id, place.file),
});

export interface LockRangesRequest extends HandleRequest {
  readonly ranges: readonly LockRequest[];
}

/** All of the ranges or none; a fault changes nothing. */
export const lockOperation: LockOperation<LockRangesRequest, undefined> = {
  name: "lock",
  effect: "writes",
  load: loadOpenLocks,
  decide: ({ request: { place, handle, ranges }, loaded: { locks }, now }) => {
    const share = place.share.id;
    const outcome = lockRanges(locks, handle, ranges);
    if (!outcome.ok) return { fault: outcome.refusal };
    const access = checkDataAccess(outcome.state, handleAccess.lock, { now, handle });
    if (access.kind === "pass") {
      return { value: undefined, effects: [putLocks(share, place.file, access.state)] };
    }
    if (access.kind === "fault") return { fault: access.fault };
    const unlocked = { ...access.state, ranges: locks.ranges };
    return stopFor({ ...access, state: unlocked }, share, place.file);
  },
};

export function lockFile(
  runtime: Runtime,
  request: LockRangesRequest,
): Promise<FileResultOrWait<undefined>> {
  return executeOperation(runtime, lockOperation, request);
}

export interface UnlockRangesRequest extends HandleRequest {
  readonly ranges: readonly ByteSpan[];
}

/** Ranges before one that is not locked stay unlocked. */
export const unlockOperation: LockOperation<UnlockRangesRequest, undefined> = {
  name: "unlock",
  effect: "writes",
  load: loadOpenLocks,
  decide: ({ request: { place, handle, ranges }, loaded: { locks } }) => {
    const outcome = unlockRanges(locks, handle, ranges);
    const effects = [putLocks(place.share.id, place.file, outcome.state)];
    return outcome.ok ? { value: undefined, effects } : { fault: outcome.refusal, effects };
  },
};

export function unlockFile(
  runtime: Runtime,
  request: UnlockRangesRequest,
): Promise<FileResult<undefined>> {
  return executeAtOnce(runtime, unlockOperation, request);
}

export type Acknowledgement = "done" | Extract<Acknowledged, string>;

export interface AcknowledgeRequest {
  readonly place: FilePlace;
  /** Of the caching grant. */
  readonly key: string;
  /** The caching rights that the client keeps. */
  readonly kept: number;
}

/** A client's acknowledgement of a break. */
export const acknowledgeOperation: LockOperation<AcknowledgeRequest, Acknowledgement> = {
  name: "acknowledge break",
  effect: "writes",
  load: loadAnyLocks,
  decide: ({ request: { place, key, kept }, loaded: { locks }, now }) => {
    const next = acknowledgeBreak(locks, { key, kept, now });
    if (typeof next === "string") return { value: next };
    return { value: "done", effects: [putLocks(place.share.id, place.file, next)] };
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

const lockStateOperation: LockOperation<{ readonly place: FilePlace }, LockState> = {
  name: "read lock state",
  effect: "reads",
  load: loadAnyLocks,
  decide: ({ loaded: { locks } }) => ({ value: locks }),
};

export async function lockStateOf(runtime: Runtime, place: FilePlace): Promise<LockState> {
  const outcome = await executeAtOnce(runtime, lockStateOperation, { place });
  if (outcome.kind === "fault") throw new Error("the lock state of every file can be read");
  return outcome.value;
}
