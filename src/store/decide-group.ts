import { writesOf } from "./batch-changes.ts";
import { mustYield, noAttempts, postponed } from "./commit-batch.ts";
import type { BatchResult, CommitBatch, PendingAttempt } from "./commit-batch.ts";
import { batchRecordWrite, droppedIndexes, isDecided } from "./commit-sharing/batch-record.ts";
import type { EngineBatch, EngineReader, EngineWrite } from "./engine.ts";
import { latestTicks } from "./queued-transaction.ts";
import { intersects, isStale } from "./read-set.ts";
import { WriteSet } from "./write-set.ts";
import type { Change } from "./write-set.ts";

/** The batches that one commit contains, validated under the engine's write lock. */
export interface GroupDecision {
  /** One per batch. */
  readonly results: readonly BatchResult[];
  /** What the engine writes; `undefined` for nothing. */
  readonly engineBatch: EngineBatch | undefined;
  /** Number of attempts that are written. */
  readonly transactions: number;
}

/** Validates batches of several processes against the current state and against each other, in
 *  order. Attempts that conflict, and those that depend on them, are dropped from the commit. */
export function decideGroup(batches: readonly CommitBatch[], current: EngineReader): GroupDecision {
  const placed: PendingAttempt[] = [];
  const earlier = new WriteSet<Change>();
  let priorityOwner = 0;
  const results = batches.map((batch, index): BatchResult => {
    if (mustYield(batch, current.priorityOwner)) return postponed;
    if (batch.record !== undefined && isDecided(batch.record, current)) return postponed;
    const dropped = conflictsOf(batch, current, earlier);
    for (const each of dropped) if (batch.starving.has(each)) priorityOwner = batch.owner;
    const isLast = index === batches.length - 1;
    for (const attempt of batch.attempts) {
      if (attempt.changes.isEmpty || dropped.has(attempt)) continue;
      placed.push(attempt);
      // The changes of the last batch are not collected: no later batch is validated against them.
      if (!isLast) for (const each of attempt.changes.inInsertionOrder()) earlier.set(each);
    }
    return { kind: "committed", dropped };
  });
  const isUnchanged = placed.length === 0 && priorityOwner === current.priorityOwner;
  if (isUnchanged || results.every((each) => each === postponed)) {
    return { results, engineBatch: undefined, transactions: 0 };
  }
  const sequence = current.sequence + placed.length;
  const engineBatch = {
    sequence,
    ticks: latestTicks(placed, current.ticks),
    priorityOwner,
    writes: [...writesOf(placed, current), ...recordsOf(batches, results, sequence)],
    mayUseReserve: batches.every(({ mayUseReserve }) => mayUseReserve),
  };
  return { results, engineBatch, transactions: placed.length };
}

/** Returns the attempts whose read set is invalid and those that depend on them. */
function conflictsOf(
  { attempts, sequence }: CommitBatch,
  current: EngineReader,
  earlier: WriteSet<Change>,
): ReadonlySet<PendingAttempt> {
  // No other process has committed since the batch was validated.
  const isCurrent = sequence === current.sequence;
  if (isCurrent && earlier.isEmpty) return noAttempts;
  const dropped = new Set<PendingAttempt>();
  for (const attempt of attempts) {
    const hasConflict =
      (dropped.size > 0 && dependsOnAny(attempt, dropped)) ||
      intersects(attempt, earlier) ||
      (!isCurrent && isStale(attempt, current));
    if (hasConflict) dropped.add(attempt);
  }
  return dropped;
}

/** Whether the attempt has read changes of a dropped one. */
function dependsOnAny(
  { dependencies }: PendingAttempt,
  dropped: ReadonlySet<PendingAttempt>,
): boolean {
  for (const each of dependencies) if (dropped.has(each)) return true;
  return false;
}

/** Records of the batches of followers from which at least one attempt is written. */
function recordsOf(
  batches: readonly CommitBatch[],
  results: readonly BatchResult[],
  revision: number,
): EngineWrite[] {
  const writes: EngineWrite[] = [];
  for (const [index, batch] of batches.entries()) {
    const result = results[index];
    if (batch.record === undefined || result?.kind !== "committed") continue;
    if (result.dropped.size === batch.attempts.length) continue;
    const dropped = droppedIndexes(batch, result.dropped);
    const record = { number: batch.record.number, isCommitted: true, dropped };
    writes.push(batchRecordWrite(batch.record, record, revision));
  }
  return writes;
}
