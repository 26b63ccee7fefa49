import type { Runtime } from "../../operation/execute.ts";
import { acknowledgeBreak, breakCaches } from "../locks/caching.ts";
import { lockRanges, unlockRanges, type LockRequest, type ByteSpan } from "../locks/byte-ranges.ts";
import type { LockState } from "../locks/lock-state.ts";
import { holds } from "./read.ts";
import { done, refuse, type FileResult, type FileResultOrWait } from "./file-result.ts";
import {
  writeTransaction,
  keepLocks,
  readSnapshot,
  type FilePlace,
  type FileTransaction,
} from "./file-transaction.ts";

/** All of the ranges or none; a refusal changes nothing. */
export function lockFile(
  runtime: Runtime,
  place: FilePlace,
  handle: bigint,
  requests: readonly LockRequest[],
): Promise<FileResultOrWait<void>> {
  return writeTransaction(runtime, async (work) => {
    const state = await presentState(work, place, handle);
    if (state === undefined) return refuse("file-closed");
    const outcome = lockRanges(state, handle, requests);
    if (!outcome.ok) return refuse(outcome.refusal);
    // Whoever locks bytes is about to change them, so nobody else goes on caching them, and what
    // was cached for writing is in the file before the lock is.
    const ownKey = state.opens.find(({ id }) => id === handle)?.cacheKey;
    const breaking = breakCaches(outcome.state, "write", { ownKey, now: work.now });
    const { share, file } = place;
    if (breaking.waitingSince === undefined) {
      await work.apply([keepLocks(share.id, file, breaking.state)]);
      return done(undefined);
    }
    const unlocked = { ...breaking.state, ranges: state.ranges };
    if (breaking.keysToNotify.length > 0) await work.apply([keepLocks(share.id, file, unlocked)]);
    return { kind: "wait", file };
  });
}

/** Ranges before one that is not locked stay unlocked. */
export function unlockFile(
  runtime: Runtime,
  place: FilePlace,
  handle: bigint,
  stretches: readonly ByteSpan[],
): Promise<FileResult<void>> {
  return writeTransaction(runtime, async (work) => {
    const state = await presentState(work, place, handle);
    if (state === undefined) return refuse("file-closed");
    const outcome = unlockRanges(state, handle, stretches);
    await work.apply([keepLocks(place.share.id, place.file, outcome.state)]);
    return outcome.ok ? done(undefined) : refuse(outcome.refusal);
  });
}

async function presentState(
  work: FileTransaction,
  { share, file, snapshot }: FilePlace,
  handle: bigint,
): Promise<LockState | undefined> {
  if (snapshot !== undefined) return undefined;
  const state = await work.locksOf(share.id, file);
  return holds(state, handle) ? state : undefined;
}

export type Acknowledgement = "done" | "no-such-cache" | "not-breaking" | "too-much";

/** A holder's answer to a break, and what it holds from then on. */
export function acknowledge(
  runtime: Runtime,
  { share, file }: FilePlace,
  { key, kept }: { readonly key: string; readonly kept: number },
): Promise<Acknowledgement> {
  return writeTransaction(runtime, async (work) => {
    const state = await work.locksOf(share.id, file);
    const next = acknowledgeBreak(state, { key, kept, now: work.now });
    if (typeof next === "string") return next;
    await work.apply([keepLocks(share.id, file, next)]);
    return "done";
  });
}

export function lockStateOf(runtime: Runtime, { share, file }: FilePlace): Promise<LockState> {
  return readSnapshot(runtime, (work) => work.locksOf(share.id, file));
}
