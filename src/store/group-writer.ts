import type { Clock } from "../base/world.ts";
import { postponed, mustYield, noAttempts } from "./commit-batch.ts";
import type { BatchResult, BatchWriter, CommitBatch, PendingAttempt } from "./commit-batch.ts";
import { Gathering } from "./gathering.ts";
import type { Engine, EngineBatch, EngineReader, EngineWrite } from "./engine.ts";
import type { KeyText } from "./key-text.ts";
import { writesOf } from "./batch-changes.ts";
import { batchRecordWrite, droppedIndexes, isDecided } from "./commit-sharing/batch-record.ts";
import { latestTicks } from "./queued-transaction.ts";
import { intersects, isStale } from "./read-set.ts";
import { WriteSet } from "./write-set.ts";
import type { Change } from "./write-set.ts";

/** A durable commit. */
export interface Committed {
  /** The sequence before the commit. */
  readonly previous: number;
  readonly sequence: number;
  /** The written keys. */
  readonly writes: readonly { readonly text: KeyText }[];
}

/** A durable commit of this process. */
export interface GroupCommit extends Committed {
  /** Number of committed transactions. */
  readonly transactions: number;
  /** Number of attempts that conflicted since the previous commit. */
  readonly conflicts: number;
}

export interface GroupWriterOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly onCommitted: (commit: GroupCommit) => void;
  /** Adds the undo entries of saved states to what is written. */
  readonly withUndo?: ((batch: EngineBatch, current: EngineReader) => EngineBatch) | undefined;
}

interface QueuedBatch {
  readonly batch: CommitBatch;
  readonly resolve: (result: BatchResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Commits batches through the engine: all queued batches with one flush, while the next ones are
 *  collected. Without followers the queue never holds more than one batch. */
export class GroupWriter implements BatchWriter {
  readonly #engine: Engine;
  readonly #onCommitted: (commit: GroupCommit) => void;
  readonly #withUndo: GroupWriterOptions["withUndo"];
  readonly #gathering: Gathering;
  readonly #queue: QueuedBatch[] = [];
  #isRunning = false;
  /** Processes from whose batches the previous commit dropped attempts. */
  #losers: ReadonlySet<number> = noLosers;

  constructor({ engine, clock, onCommitted, withUndo }: GroupWriterOptions) {
    this.#engine = engine;
    this.#withUndo = withUndo;
    this.#gathering = new Gathering(clock);
    this.#onCommitted = onCommitted;
  }

  /** Commits the batch as soon as no other commit runs. */
  write(batch: CommitBatch): Promise<BatchResult> {
    const result = this.#add(batch);
    if (!this.#isRunning) void this.#run();
    return result;
  }

  /** Commits the batch with those that arrive until the end of this event-loop iteration. */
  writeLater(batch: CommitBatch): Promise<BatchResult> {
    const result = this.#add(batch);
    setImmediate(() => {
      if (!this.#isRunning) void this.#run();
    });
    return result;
  }

  #add(batch: CommitBatch): Promise<BatchResult> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ batch, resolve, reject });
      this.#gathering.arrived();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#queue.length > 0) {
      await this.#gathering.complete(this.#queue);
      await this.#commit(this.#fairOrder(this.#queue.splice(0)));
    }
    this.#isRunning = false;
  }

  /** Processes that lost conflicts in the previous commit come first, so that processes that change
   *  the same keys take turns. */
  #fairOrder(group: readonly QueuedBatch[]): readonly QueuedBatch[] {
    if (group.length === 1 || this.#losers.size === 0) return group;
    const rank = ({ batch }: QueuedBatch): number => (this.#losers.has(batch.owner) ? 0 : 1);
    return group.toSorted((left, right) => rank(left) - rank(right));
  }

  async #commit(group: readonly QueuedBatch[]): Promise<void> {
    const batches = group.map(({ batch }) => batch);
    let decision: GroupDecision | undefined;
    let previous = 0;
    this.#gathering.begin(batches);
    try {
      await this.#engine.commit((current) => {
        decision = decideGroup(batches, current);
        previous = current.sequence;
        const { engineBatch } = decision;
        return engineBatch && (this.#withUndo?.(engineBatch, current) ?? engineBatch);
      }, countOf(batches));
    } catch (error) {
      if (group.length === 1) return group[0]?.reject(error);
      // One of the batches may have caused the failure, for example by its size on a full disk.
      // Each is committed separately, so that the others succeed.
      for (const each of group) await this.#commit([each]);
      return;
    }
    this.#gathering.end();
    this.#losers = losersOf(batches, decision?.results ?? []);
    for (const [index, { resolve }] of group.entries()) {
      resolve(decision?.results[index] ?? postponed);
    }
    if (decision !== undefined) this.#report(decision, batches, previous);
  }

  #report(decision: GroupDecision, batches: readonly CommitBatch[], previous: number): void {
    const { engineBatch, transactions } = decision;
    if (engineBatch === undefined || transactions === 0) return;
    const { sequence, writes } = engineBatch;
    const conflicts = batches.reduce((sum, batch) => sum + batch.conflicts, 0);
    this.#onCommitted({ previous, sequence, writes, transactions, conflicts });
  }
}

const noLosers: ReadonlySet<number> = new Set();

/** The processes from whose batches attempts were dropped. */
function losersOf(
  batches: readonly CommitBatch[],
  results: readonly BatchResult[],
): ReadonlySet<number> {
  const hasLost = (result: BatchResult | undefined): boolean =>
    result?.kind === "committed" && result.dropped.size > 0;
  if (!results.some(hasLost)) return noLosers;
  return new Set(batches.filter((_, index) => hasLost(results[index])).map(({ owner }) => owner));
}

/** Number of changes in the batches. */
function countOf(batches: readonly CommitBatch[]): number {
  let count = 0;
  for (const { attempts } of batches) for (const { changes } of attempts) count += changes.count;
  return count;
}

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
