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
  readonly foreseen: Prefetcher;
  readonly clock: Clock;
  /** Names this opening of the store; never used again. */
  readonly node: string;
  readonly nextTicks: (reader: StateReader) => Ticks;
  readonly onCommitted: (commit: NodeCommit) => void;
  /** The others took this node for dead; nothing of it will be committed any more. */
  readonly onFenced: () => void;
}

export interface NodeCommit {
  readonly previous: number;
  readonly sequence: number;
  readonly texts: readonly KeyText[];
  /** How many were beaten by others and go into the next. */
  readonly conflicts: number;
}

/** Each has its own patience, and more than a database that does not answer is given. */
const rerunMillisecondsMax = 20_000;
const batchTransactionsMax = 512;
const queueTransactionsMax = 100_000;
/** Beaten this often by other nodes, a transaction runs again under the lock, where none can. */
const conflictsBeforeLock = 4;

/**
 * Commits what is waiting as one batch, in one round trip. Who has read what an earlier one of the
 * batch changes is run again over those changes before the batch is sent; who has read what another
 * node changed meanwhile is named in the answer, and goes into the next.
 */
export class PostgresCommitter {
  readonly #options: PostgresCommitterOptions;
  readonly #queue: QueuedTransaction[] = [];
  #running: Promise<void> | undefined;
  #number = 0;

  constructor(options: PostgresCommitterOptions) {
    this.#options = options;
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
      // Everyone who is ready in this turn of the event loop shares the round trip.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#queue.splice(0, batchTransactionsMax);
      try {
        const needsLock = batch.some(
          ({ externalConflicts }) => externalConflicts >= conflictsBeforeLock,
        );
        await (needsLock ? this.#commitUnderLock(batch) : this.#commit(batch));
      } catch (error) {
        for (const pending of batch) pending.settle({ error: asUnavailable(error) });
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
      for (const pending of batch) pending.isStale = true;
      const accepted = await this.#accept(batch, () => Promise.resolve(state.view()));
      await state.idle();
      await this.#send(accepted, client);
      isDone = accepted.length > 0;
    } finally {
      // A connection that may still hold the lock is closed, which gives it back.
      client.release(!isDone);
    }
  }

  /** Those that may be sent: their reads and each other's changes go together. */
  async #accept(
    batch: readonly QueuedTransaction[],
    open: () => Promise<StateView>,
  ): Promise<readonly QueuedTransaction[]> {
    const states = new RetryReaders({ batch, foreseen: this.#options.foreseen, open });
    const accepted: QueuedTransaction[] = [];
    const shared = new BatchChanges();
    for (const pending of batch) {
      if (pending.isStale || pending.attempt.conflictsWith(shared.changes)) {
        if (!mayRetry(pending)) continue;
        await this.#runAgain(pending, states, shared);
      }
      if (holdsByItself(pending)) {
        pending.settle(pending.outcome);
        continue;
      }
      accepted.push(pending);
      shared.share(pending.attempt);
    }
    return accepted;
  }

  async #runAgain(
    pending: QueuedTransaction,
    states: RetryReaders,
    shared: BatchChanges,
  ): Promise<void> {
    const { clock, nextTicks } = this.#options;
    const rerun = new BatchRetries(clock, rerunMillisecondsMax);
    const ahead = await states.foreseen(pending);
    if (ahead !== undefined) {
      await rerun.run(pending, new Attempt(ahead, nextTicks(ahead), shared));
      if (ahead.isShort) pending.attemptsUsed -= 1;
    }
    if (ahead === undefined || ahead.isShort) {
      const whole = await states.whole();
      await rerun.run(pending, new Attempt(whole, nextTicks(whole), shared));
    }
    rerun.end();
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
    { previous, lost }: SentBatch,
    isReading: boolean,
  ): void {
    const beaten = accepted.filter((_, index) => lost.has(index + 1));
    for (const pending of beaten) {
      pending.isStale = true;
      pending.externalConflicts += 1;
    }
    this.#queue.unshift(...beaten);
    const kept = accepted.filter((_, index) => !lost.has(index + 1));
    for (const pending of kept) pending.settle(pending.outcome);
    const texts = kept.flatMap(({ attempt }) => attempt.changes.all().map(({ text }) => text));
    if (isReading || texts.length === 0) return;
    const sequence = previous + accepted.length;
    this.#options.onCommitted({ previous, sequence, texts, conflicts: beaten.length });
  }
}

/** It wrote nothing and saw nothing that is yet to be written: what it read was so at one time. */
function holdsByItself({ attempt }: QueuedTransaction): boolean {
  return attempt.changes.isEmpty && attempt.dependencies.size === 0;
}
