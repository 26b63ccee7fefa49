import type { Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import { Attempt } from "./attempt.ts";
import type { Engine, EngineBatch, EngineReader, EngineWrite } from "./engine.ts";
import { latestTicks, mayRetry, BatchRetries, failUncommitted } from "./queued-transaction.ts";
import type { QueuedTransaction } from "./queued-transaction.ts";
import { cachingReader } from "./caching-reader.ts";
import { BatchChanges, writesOf } from "./batch-changes.ts";
import { StoreBusy, StoreFull } from "./store.ts";
import { CommitPriority } from "./commit-priority.ts";

export interface CommitterOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Tells this process from others with the same store open; not zero. */
  readonly owner: number;
  readonly nextTicks: (reader: EngineReader) => Ticks;
  /** After each durable commit; `previous` is the sequence just before it. */
  readonly onCommitted: (commit: Committed) => void;
}

export interface Committed {
  readonly previous: number;
  readonly sequence: number;
  readonly writes: readonly EngineWrite[];
  /** How often one of those that took part had to run again. */
  readonly conflicts: number;
}

const batchTransactionsMax = 512;
const queueTransactionsMax = 100_000;

/**
 * Commits what is waiting as one batch, with one flush; while it flushes the next batch gathers.
 *
 * A transaction that lost is run again inside the batch, over the changes of those before it: a hot
 * key then costs no wasted flush, and in the order of arrival everyone gets through. Whether other
 * processes have committed in between is checked under the engine's write lock: those of the batch
 * who read what changed, and those who read their changes, are dropped and go into the next.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #queue: QueuedTransaction[] = [];
  readonly #turns: CommitPriority;
  #conflicts = 0;
  /** Smaller after a batch for which there was no space: a part of it may fit. */
  #batchMax = batchTransactionsMax;
  #running: Promise<void> | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#turns = new CommitPriority(options.engine, options.owner);
  }

  submit(pending: QueuedTransaction): void {
    if (this.#queue.length >= queueTransactionsMax) {
      pending.settle({ error: new StoreBusy("too many transactions wait to be committed") });
      return;
    }
    this.#queue.push(pending);
    this.#running ??= this.#run();
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      // Everyone who is ready in this turn of the event loop shares the flush.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#queue.splice(0, this.#batchMax);
      try {
        await this.#commit(batch);
      } catch (error) {
        for (const pending of batch) pending.settle({ error });
      }
    }
    this.#running = undefined;
  }

  async #commit(batch: readonly QueuedTransaction[]): Promise<void> {
    const { engine, nextTicks } = this.#options;
    await this.#turns.yieldToOwner();
    const latest = engine.open();
    const accepted: QueuedTransaction[] = [];
    const reruns = new BatchRetries(this.#options.clock);
    try {
      const remembered = cachingReader(latest);
      const shared = new BatchChanges();
      for (const pending of batch) {
        if (hasConflict(pending, remembered, shared)) {
          if (pending.attemptsUsed > 0) this.#conflicts += 1;
          if (!mayRetry(pending)) continue;
          await reruns.run(pending, new Attempt(remembered, nextTicks(latest), shared));
        }
        accepted.push(pending);
        // Nobody comes after the last to see what it is about to write.
        if (pending !== batch.at(-1)) shared.share(pending.attempt);
      }
    } finally {
      reruns.end();
      latest.close();
    }
    await this.#write(accepted, latest.sequence);
  }

  async #write(accepted: readonly QueuedTransaction[], sequence: number): Promise<void> {
    const writers = accepted.filter(({ attempt }) => !attempt.changes.isEmpty);
    let dropped: ReadonlySet<Attempt> = new Set();
    let committed: Committed | undefined;
    let isPostponed = false;
    const mayUseReserve = writers.every((pending) => pending.mayUseReserve === true);
    const decide = (current: EngineReader): EngineBatch | undefined => {
      isPostponed = this.#turns.mustYield(current);
      if (isPostponed) return undefined;
      if (current.sequence !== sequence) dropped = invalidatedBy(accepted, current);
      const turn = this.#turns.next(accepted.filter(({ attempt }) => dropped.has(attempt)));
      const attempts = writers.map(({ attempt }) => attempt).filter((each) => !dropped.has(each));
      if (attempts.length === 0 && turn === current.priorityOwner) return undefined;
      const writes = writesOf(attempts, current);
      const next = current.sequence + attempts.length;
      if (attempts.length > 0) {
        const conflicts = this.#conflicts;
        committed = { previous: current.sequence, sequence: next, writes, conflicts };
      }
      const ticks = latestTicks(attempts, current.ticks);
      return { sequence: next, ticks, turn, writes, mayUseReserve };
    };
    try {
      if (writers.length > 0) await this.#options.engine.commit(decide, countOf(writers));
    } catch (error) {
      if (error instanceof StoreFull && accepted.length > 1) {
        this.#batchMax = Math.ceil(accepted.length / 2);
        this.#postpone(accepted);
      } else failUncommitted(accepted, error);
      return;
    }
    if (isPostponed) return this.#postpone(accepted);
    this.#batchMax = Math.min(2 * this.#batchMax, batchTransactionsMax);
    this.#requeue(accepted.filter(({ attempt }) => dropped.has(attempt)));
    for (const pending of accepted) {
      if (!dropped.has(pending.attempt)) pending.settle(pending.outcome);
    }
    if (committed === undefined) return;
    this.#conflicts = 0;
    this.#options.onCommitted(committed);
  }

  #postpone(accepted: readonly QueuedTransaction[]): void {
    this.#queue.unshift(...accepted);
    for (const pending of accepted) pending.isStale = pending.attempt.dependencies.size > 0;
  }

  #requeue(beaten: readonly QueuedTransaction[]): void {
    for (const pending of beaten) {
      pending.isStale = true;
      pending.externalConflicts += 1;
    }
    this.#queue.unshift(...beaten);
  }
}

function countOf(writers: readonly QueuedTransaction[]): number {
  let count = 0;
  for (const { attempt } of writers) count += attempt.changes.count;
  return count;
}

function hasConflict(
  pending: QueuedTransaction,
  latest: EngineReader,
  shared: BatchChanges,
): boolean {
  const { attempt } = pending;
  if (pending.isStale || attempt.conflictsWith(shared.changes)) return true;
  return attempt.sequence !== latest.sequence && attempt.isStaleAgainst(latest);
}

/** Under the write lock another process turned out to have committed: who has read its changes, or
 *  those of one who has, cannot stand. */
function invalidatedBy(
  accepted: readonly QueuedTransaction[],
  current: EngineReader,
): ReadonlySet<Attempt> {
  const dropped = new Set<Attempt>();
  for (const { attempt } of accepted) {
    const isLeaning = [...attempt.dependencies].some((each) => dropped.has(each));
    if (isLeaning || attempt.isStaleAgainst(current)) dropped.add(attempt);
  }
  return dropped;
}
