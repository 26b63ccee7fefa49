import type { Pool, PoolClient } from "pg";

import type { Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import { Attempt } from "../attempt.ts";
import type { StateReader, StateView } from "../engine.ts";
import type { KeyText } from "../key-text.ts";
import { mayRetry, BatchRetries, failUncommitted } from "../queued-transaction.ts";
import type { QueuedTransaction } from "../queued-transaction.ts";
import { BatchChanges } from "../batch-changes.ts";
import { StoreBusy } from "../store.ts";
import { batchQuery } from "./batch.ts";
import type { Prefetcher } from "./prefetcher.ts";
import { RetryReaders } from "./retry-readers.ts";
import { sendBatch } from "./sender.ts";
import type { SentBatch } from "./sender.ts";
import type { StatePool } from "./state-pool.ts";
import { asUnavailable, isFenced } from "./unavailable.ts";

export interface PostgresCommitterOptions {
  readonly pool: Pool;
  readonly states: StatePool;
  readonly prefetcher: Prefetcher;
  readonly clock: Clock;
  /** Unique id of this opening of the store; never reused. */
  readonly node: string;
  readonly nextTicks: (reader: StateReader) => Ticks;
  readonly onCommitted: (commit: NodeCommit) => void;
  /** Called when another node has fenced this one: no commit of this node will succeed any more. */
  readonly onFenced: () => void;
}

export interface NodeCommit {
  readonly previous: number;
  readonly sequence: number;
  readonly texts: readonly KeyText[];
  /** Transactions that conflicted with commits of other nodes and go into the next batch. */
  readonly conflicts: number;
}

/** Timeout per attempt, longer than the timeout of database queries. */
const attemptMillisecondsMax = 20_000;
const batchTransactionsMax = 512;
const queueTransactionsMax = 100_000;
/** After this many conflicts with other nodes a transaction is retried under the commit lock, where
 *  no other node can commit. */
const conflictsBeforeLock = 4;

/** Group commit in one round trip. A transaction that read what an earlier one of the batch changes
 *  is retried on top of these changes before the batch is sent. The database returns the
 *  transactions that conflict with commits of other nodes; they go into the next batch. */
export class PostgresCommitter {
  readonly #options: PostgresCommitterOptions;
  readonly #queue: QueuedTransaction[] = [];
  #running: Promise<void> | undefined;
  #number = 0;

  constructor(options: PostgresCommitterOptions) {
    this.#options = options;
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
      // One round trip serves all transactions submitted in this event-loop iteration.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#queue.splice(0, batchTransactionsMax);
      try {
        const needsLock = batch.some(
          ({ externalConflicts }) => externalConflicts >= conflictsBeforeLock,
        );
        await (needsLock ? this.#commitUnderLock(batch) : this.#commit(batch));
      } catch (error) {
        for (const queued of batch) queued.settle({ error: asUnavailable(error) });
      }
    }
    this.#running = undefined;
  }

  async #commit(batch: readonly QueuedTransaction[]): Promise<void> {
    const { states } = this.#options;
    let view: Promise<StateView> | undefined;
    try {
      const accepted = await this.#accept(batch, () => (view ??= states.open()));
      await this.#send(accepted, undefined);
    } finally {
      (await view)?.close();
    }
  }

  async #commitUnderLock(batch: readonly QueuedTransaction[]): Promise<void> {
    const { pool, states } = this.#options;
    const client = await pool.connect();
    let isDone = false;
    try {
      const state = await states.lock(client);
      for (const queued of batch) queued.isStale = true;
      const accepted = await this.#accept(batch, () => Promise.resolve(state.view()));
      await state.idle();
      await this.#send(accepted, client);
      isDone = accepted.length > 0;
    } finally {
      // Closing a connection that may still hold the lock releases it.
      client.release(!isDone);
    }
  }

  /** Returns the transactions to send, whose read sets are consistent with the changes of those
   *  before them. */
  async #accept(
    batch: readonly QueuedTransaction[],
    open: () => Promise<StateView>,
  ): Promise<readonly QueuedTransaction[]> {
    const readers = new RetryReaders({ batch, prefetcher: this.#options.prefetcher, open });
    const accepted: QueuedTransaction[] = [];
    const shared = new BatchChanges();
    for (const queued of batch) {
      if (queued.isStale || queued.attempt.conflictsWith(shared.changes)) {
        if (!mayRetry(queued)) continue;
        await this.#retry(queued, readers, shared);
      }
      if (isResultFinal(queued)) {
        queued.settle(queued.result);
        continue;
      }
      accepted.push(queued);
      shared.share(queued.attempt);
    }
    return accepted;
  }

  async #retry(
    queued: QueuedTransaction,
    readers: RetryReaders,
    shared: BatchChanges,
  ): Promise<void> {
    const { clock, nextTicks } = this.#options;
    const retries = new BatchRetries(clock, attemptMillisecondsMax);
    const prefetched = await readers.prefetchedReader(queued);
    if (prefetched !== undefined) {
      await retries.run(queued, new Attempt(prefetched, nextTicks(prefetched), shared));
      if (prefetched.isIncomplete) queued.attemptsUsed -= 1;
    }
    if (prefetched === undefined || prefetched.isIncomplete) {
      const full = await readers.fullReader();
      await retries.run(queued, new Attempt(full, nextTicks(full), shared));
    }
    retries.end();
  }

  async #send(
    accepted: readonly QueuedTransaction[],
    locked: PoolClient | undefined,
  ): Promise<void> {
    if (accepted.length === 0) return;
    const { pool, clock, node } = this.#options;
    const attempts = accepted.map(({ attempt }) => attempt);
    const isReading = attempts.every(({ changes }) => changes.isEmpty);
    this.#number += 1;
    try {
      const query = batchQuery(attempts, { node, number: this.#number });
      const sent = await sendBatch({ pool, clock, locked }, query);
      this.#settle(accepted, sent, isReading);
    } catch (error) {
      if (isFenced(error)) this.#options.onFenced();
      failUncommitted(accepted, asUnavailable(error));
    }
  }

  #settle(
    accepted: readonly QueuedTransaction[],
    { previous, conflicts }: SentBatch,
    isReading: boolean,
  ): void {
    const conflicting = accepted.filter((_, index) => conflicts.has(index + 1));
    for (const queued of conflicting) {
      queued.isStale = true;
      queued.externalConflicts += 1;
    }
    this.#queue.unshift(...conflicting);
    const committed = accepted.filter((_, index) => !conflicts.has(index + 1));
    for (const queued of committed) queued.settle(queued.result);
    const texts = committed.flatMap(({ attempt }) => attempt.changes.all().map(({ text }) => text));
    if (isReading || texts.length === 0) return;
    const sequence = previous + accepted.length;
    this.#options.onCommitted({ previous, sequence, texts, conflicts: conflicting.length });
  }
}

/** Whether the result needs no validation by the database: the transaction wrote nothing, and all
 *  that it read belongs to one committed state. */
function isResultFinal({ attempt }: QueuedTransaction): boolean {
  return attempt.changes.isEmpty && attempt.dependencies.size === 0;
}
