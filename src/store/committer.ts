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
  /** Identifies this process among those that have the store open; not 0. */
  readonly owner: number;
  readonly nextTicks: (reader: EngineReader) => Ticks;
  /** Called after each durable commit; `previous` is the sequence before it. */
  readonly onCommitted: (commit: Committed) => void;
}

export interface Committed {
  readonly previous: number;
  readonly sequence: number;
  readonly writes: readonly EngineWrite[];
  /** Attempts that conflicted since the previous commit. */
  readonly conflicts: number;
}

const batchTransactionsMax = 512;
const queueTransactionsMax = 100_000;

/**
 * Group commit: commits the queued transactions as one batch with one flush, while the next batch
 * is collected.
 *
 * A transaction that conflicts is retried inside the batch, on top of the changes of the
 * transactions before it. A hot key therefore costs no wasted flush, and transactions are served in
 * the order of arrival. Commits of other processes are detected under the engine's write lock:
 * transactions of the batch that conflict with them, and those that depend on these, go into the
 * next batch.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #queue: QueuedTransaction[] = [];
  readonly #priority: CommitPriority;
  #conflicts = 0;
  /** Transactions per batch. Halved when the disk has no space for a batch: a part of it may
   *  fit. */
  #batchMax = batchTransactionsMax;
  #running: Promise<void> | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#priority = new CommitPriority(options.engine, options.owner);
  }

  submit(queued: QueuedTransaction): void {
    if (this.#queue.length >= queueTransactionsMax) {
      queued.settle({ error: new StoreBusy("the commit queue is full") });
      return;
    }
    this.#queue.push(queued);
    this.#running ??= this.#run();
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      // One flush serves all transactions submitted in this event-loop iteration.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#queue.splice(0, this.#batchMax);
      try {
        await this.#commit(batch);
      } catch (error) {
        for (const queued of batch) queued.settle({ error });
      }
    }
    this.#running = undefined;
  }

  async #commit(batch: readonly QueuedTransaction[]): Promise<void> {
    const { engine, nextTicks } = this.#options;
    await this.#priority.yieldToOwner();
    const latest = engine.open();
    const accepted: QueuedTransaction[] = [];
    const retries = new BatchRetries(this.#options.clock);
    try {
      const cached = cachingReader(latest);
      const shared = new BatchChanges();
      for (const queued of batch) {
        if (hasConflict(queued, cached, shared)) {
          if (queued.attemptsUsed > 0) this.#conflicts += 1;
          if (!mayRetry(queued)) continue;
          await retries.run(queued, new Attempt(cached, nextTicks(latest), shared));
        }
        accepted.push(queued);
        // No later transaction reads the changes of the last one.
        if (queued !== batch.at(-1)) shared.share(queued.attempt);
      }
    } finally {
      retries.end();
      latest.close();
    }
    await this.#write(accepted, latest.sequence);
  }

  async #write(accepted: readonly QueuedTransaction[], sequence: number): Promise<void> {
    const writers = accepted.filter(({ attempt }) => !attempt.changes.isEmpty);
    let conflicting: ReadonlySet<Attempt> = new Set();
    let committed: Committed | undefined;
    let isPostponed = false;
    const mayUseReserve = writers.every((queued) => queued.mayUseReserve === true);
    const decide = (current: EngineReader): EngineBatch | undefined => {
      isPostponed = this.#priority.mustYield(current);
      if (isPostponed) return undefined;
      if (current.sequence !== sequence) conflicting = invalidatedBy(accepted, current);
      const priorityOwner = this.#priority.next(
        accepted.filter(({ attempt }) => conflicting.has(attempt)),
      );
      const attempts = writers
        .map(({ attempt }) => attempt)
        .filter((each) => !conflicting.has(each));
      if (attempts.length === 0 && priorityOwner === current.priorityOwner) return undefined;
      const writes = writesOf(attempts, current);
      const next = current.sequence + attempts.length;
      if (attempts.length > 0) {
        const conflicts = this.#conflicts;
        committed = { previous: current.sequence, sequence: next, writes, conflicts };
      }
      const ticks = latestTicks(attempts, current.ticks);
      return { sequence: next, ticks, priorityOwner, writes, mayUseReserve };
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
    this.#requeue(accepted.filter(({ attempt }) => conflicting.has(attempt)));
    for (const queued of accepted) {
      if (!conflicting.has(queued.attempt)) queued.settle(queued.result);
    }
    if (committed === undefined) return;
    this.#conflicts = 0;
    this.#options.onCommitted(committed);
  }

  #postpone(accepted: readonly QueuedTransaction[]): void {
    this.#queue.unshift(...accepted);
    for (const queued of accepted) queued.isStale = queued.attempt.dependencies.size > 0;
  }

  #requeue(conflicting: readonly QueuedTransaction[]): void {
    for (const queued of conflicting) {
      queued.isStale = true;
      queued.externalConflicts += 1;
    }
    this.#queue.unshift(...conflicting);
  }
}

function countOf(writers: readonly QueuedTransaction[]): number {
  let count = 0;
  for (const { attempt } of writers) count += attempt.changes.count;
  return count;
}

function hasConflict(
  queued: QueuedTransaction,
  latest: EngineReader,
  shared: BatchChanges,
): boolean {
  const { attempt } = queued;
  if (queued.isStale || attempt.conflictsWith(shared.changes)) return true;
  return attempt.sequence !== latest.sequence && attempt.isStaleAgainst(latest);
}

/** Another process committed before this batch got the write lock. Returns the attempts whose read
 *  set is now invalid and those that depend on them. */
function invalidatedBy(
  accepted: readonly QueuedTransaction[],
  current: EngineReader,
): ReadonlySet<Attempt> {
  const conflicting = new Set<Attempt>();
  for (const { attempt } of accepted) {
    const dependsOnConflict = [...attempt.dependencies].some((each) => conflicting.has(each));
    if (dependsOnConflict || attempt.isStaleAgainst(current)) conflicting.add(attempt);
  }
  return conflicting;
}
