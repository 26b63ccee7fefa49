import type { Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import { Attempt } from "./attempt.ts";
import { BatchDelay } from "./batch-delay.ts";
import { noAttempts, mustYield } from "./commit-batch.ts";
import type { BatchResult, BatchWriter, CommitBatch } from "./commit-batch.ts";
import type { Engine, EngineReader } from "./engine.ts";
import { mayRetry, BatchRetries, failUncommitted } from "./queued-transaction.ts";
import type { QueuedTransaction } from "./queued-transaction.ts";
import { cachingReader } from "./caching-reader.ts";
import { BatchChanges } from "./batch-changes.ts";
import { StoreBusy, StoreFull } from "./store.ts";

export interface CommitterOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Number of this process among those that have the store open, for commit priority; not 0. */
  readonly owner: number;
  readonly nextTicks: (reader: EngineReader) => Ticks;
  readonly writer: BatchWriter;
}

const batchTransactionsMax = 512;
const queueTransactionsMax = 100_000;

/**
 * Group commit: commits the queued transactions as one batch with one flush, while the next batch
 * is collected.
 *
 * A transaction that conflicts is retried inside the batch, on top of the changes of the
 * transactions before it. A hot key therefore costs no wasted flush, and transactions are served in
 * the order of arrival. Commits of other processes are detected under the engine's write lock
 * (`group-writer.ts`): transactions of the batch that conflict with them, and those that depend on
 * these, go into the next batch.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #queue: QueuedTransaction[] = [];
  readonly #priority: CommitPriority;
  readonly #delay: BatchDelay;
  #conflicts = 0;
  #writes = 0;
  /** Current limit of transactions per batch. It is halved when the disk has no space for a batch,
   *  because a part of the batch may fit. */
  #batchMax = batchTransactionsMax;
  #running: Promise<void> | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#priority = new CommitPriority(options.engine, options.owner);
    this.#delay = new BatchDelay(options.clock);
  }

  submit(queued: QueuedTransaction): void {
    if (this.#queue.length >= queueTransactionsMax) {
      queued.settle({ error: new StoreBusy("the commit queue is full") });
      return;
    }
    this.#queue.push(queued);
    this.#running ??= this.#run();
  }

  /** Number of batches that this process has written or failed to write. */
  get writes(): number {
    return this.#writes;
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#delay.whileGrowing(this.#queue, this.#batchMax);
      const batch = this.#queue.splice(0, this.#batchMax);
      this.#delay.begin();
      try {
        await this.#commit(batch);
      } catch (error) {
        for (const queued of batch) queued.settle({ error });
      }
      this.#delay.end();
    }
    this.#running = undefined;
  }

  async #commit(batch: readonly QueuedTransaction[]): Promise<void> {
    const { engine, nextTicks } = this.#options;
    const [first] = batch;
    if (batch.length === 1 && first !== undefined && this.#isLatest(first)) {
      return this.#write(batch, first.attempt.sequence);
    }
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

  /** Whether this process has written nothing since the view of the attempt was opened. Opening
   *  another view would show at most commits and the priority of other processes, which are checked
   *  under the write lock all the same. Saves two views per commit with one client. */
  #isLatest({ isStale, writesBefore }: QueuedTransaction): boolean {
    return !isStale && writesBefore === this.#writes;
  }

  async #write(accepted: readonly QueuedTransaction[], sequence: number): Promise<void> {
    if (accepted.every(({ attempt }) => attempt.changes.isEmpty)) {
      for (const queued of accepted) queued.settle(queued.result);
      return;
    }
    let result: BatchResult;
    try {
      result = await this.#options.writer.write(this.#batchOf(accepted, sequence));
    } catch (error) {
      if (error instanceof StoreFull && accepted.length > 1) {
        this.#batchMax = Math.ceil(accepted.length / 2);
        this.#postpone(accepted);
      } else failUncommitted(accepted, error);
      return;
    } finally {
      this.#writes += 1;
    }
    if (result.kind === "postponed") return this.#postpone(accepted);
    const { dropped } = result;
    this.#priority.committed();
    const isWritten = ({ attempt }: QueuedTransaction): boolean =>
      !attempt.changes.isEmpty && !dropped.has(attempt);
    if (dropped.size === 0 || accepted.some(isWritten)) this.#conflicts = 0;
    this.#batchMax = Math.min(2 * this.#batchMax, batchTransactionsMax);
    if (dropped.size > 0) this.#requeue(accepted.filter(({ attempt }) => dropped.has(attempt)));
    for (const queued of accepted) {
      if (!dropped.has(queued.attempt)) queued.settle(queued.result);
    }
  }

  #batchOf(accepted: readonly QueuedTransaction[], sequence: number): CommitBatch {
    const starving = accepted.filter(isStarving).map(({ attempt }) => attempt);
    const isFreeing = ({ attempt, mayUseReserve }: QueuedTransaction): boolean =>
      mayUseReserve === true || attempt.changes.isEmpty;
    return {
      attempts: accepted.map(({ attempt }) => attempt),
      starving: starving.length === 0 ? noAttempts : new Set(starving),
      sequence,
      owner: this.#options.owner,
      ignoredOwner: this.#priority.ignoredOwner,
      mayUseReserve: accepted.every(isFreeing),
      conflicts: this.#conflicts,
    };
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

function hasConflict(
  queued: QueuedTransaction,
  latest: EngineReader,
  shared: BatchChanges,
): boolean {
  const { attempt } = queued;
  if (queued.isStale || attempt.conflictsWith(shared.changes)) return true;
  return attempt.sequence !== latest.sequence && attempt.isStaleAgainst(latest);
}

/** Conflicts with other processes after which a transaction claims commit priority for its
 *  process. */
const conflictsBeforePriority = 4;
/** Polls of the stored priority before a process commits all the same: a few milliseconds. A
 *  process that has the priority for longer has stopped running. */
const yieldPollsMax = 1000;

/** Prevents starvation between processes. The process that just committed usually gets the write
 *  lock again, and a transaction of another process on the same key would conflict every time.
 *  After 4 conflicts with other processes a process stores its id as priority owner. The others
 *  then delay their next commit until the id is removed, for at most 1,000 polls. */
export class CommitPriority {
  readonly #engine: Engine;
  readonly #owner: number;
  #ignored = 0;

  constructor(engine: Engine, owner: number) {
    this.#engine = engine;
    this.#owner = owner;
  }

  /** Process whose priority is ignored, because it has stopped running; 0 for none. */
  get ignoredOwner(): number {
    return this.#ignored;
  }

  /** A commit has stored a new priority owner. */
  committed(): void {
    this.#ignored = 0;
  }

  async yieldToOwner(): Promise<void> {
    for (let polls = 0; polls < yieldPollsMax; polls += 1) {
      const view = this.#engine.open();
      view.close();
      const process = { owner: this.#owner, ignoredOwner: this.#ignored };
      if (!mustYield(process, view.priorityOwner)) return;
      if (polls === yieldPollsMax - 1) this.#ignored = view.priorityOwner;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Whether the process of a transaction claims commit priority if the transaction conflicts once
 *  more. */
export function isStarving({ externalConflicts }: { readonly externalConflicts: number }): boolean {
  return externalConflicts + 1 >= conflictsBeforePriority;
}
