import { copyWith } from "../base/copy-with.ts";
import { InvariantBroken } from "../base/invariant.ts";
import type { Span, SpanAttributes } from "../base/span.ts";
import { ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import { Attempt } from "./attempt.ts";
import { BatchChanges } from "./write-set.ts";
import { cachingReader } from "./caching-reader.ts";
import type { Awaitable } from "../base/awaitable.ts";
import type { EngineReader, StateReader } from "./engine.ts";
import type { KeyText } from "../encoding/keys.ts";
import {
  StoreBusy,
  WorkTimedOut,
  StoreFull,
  type SnapshotOptions,
  type Transaction,
} from "./store.ts";

/** The commit queue: collects transactions into batches, each of which one flush makes durable,
 *  retries those that conflict inside their batch, and reports the result of each. Both kinds of
 *  stores use it (`transactional-store.ts`, `postgres/postgres-store.ts`); they differ only in how
 *  a batch is validated and written (`BatchCommits`). */

/** A batch is collected for at most half of the average duration of a commit, and at most 10 ms:
 *  longer, the wait would cost more than the shared flush saves. */
const waitShare = 0.5;
const waitTicksMax = 10 * Number(ticksPerMillisecond);
/** The latest commit has a weight of 1/8 in the average: a single delayed one has little effect. */
const averagedCommits = 8;

/** Decides how long further transactions are collected for a batch. Clients whose requests were
 *  answered together send their next requests within a short time of each other. Without the delay,
 *  the first few would be committed alone, and the rest would wait for the flush of that batch. */
export class BatchDelay {
  readonly #clock: Clock;
  #averageTicks = 0;
  #startedAt: Ticks = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves at the end of the first event-loop iteration in which the queue has not grown, when
   *  it has `countMax` transactions, or when the time for collecting is over. */
  async whileGrowing(queue: { readonly length: number }, countMax: number): Promise<void> {
    const wait = Math.min(Math.round(this.#averageTicks * waitShare), waitTicksMax);
    const end = this.#clock.monotonic() + BigInt(wait);
    let count: number;
    do {
      count = queue.length;
      await new Promise<void>((resolve) => this.#clock.nextIteration(resolve));
    } while (queue.length > count && queue.length < countMax && this.#clock.monotonic() < end);
  }

  /** Called when a commit begins; `end` then adds how long it took to the average. */
  begin(): void {
    this.#startedAt = this.#clock.monotonic();
  }

  end(): void {
    const elapsed = Number(this.#clock.monotonic() - this.#startedAt);
    this.#averageTicks += (elapsed - this.#averageTicks) / averagedCommits;
  }
}

/** The value that the work of a transaction returned, or the error that it threw. */
export type WorkResult = { readonly value: unknown } | { readonly error: unknown };

/** A transaction in the commit queue. Its work has run once before it is queued, except with
 *  `runInBatch`: then only inside the batch. */
export interface QueuedTransaction {
  readonly work: (tx: Transaction) => Awaitable<unknown>;
  readonly attemptsMax: number;
  readonly prefetch?: SnapshotOptions["prefetch"] | undefined;
  readonly mayUseReserve?: boolean | undefined;
  /** The span of a traced transaction; undefined without tracing. */
  readonly span?: Span | undefined;
  readonly settle: (result: WorkResult) => void;
  attempt: Attempt;
  result: WorkResult;
  attemptsUsed: number;
  /** How often it conflicted with commits of other processes; after 4, it gets priority. */
  externalConflicts: number;
  /** Whether something that the attempt has read has changed, so that it must be retried. */
  isStale: boolean;
  /** `EngineCommits.writes` when the first attempt began: tells whether anything was written
   *  since. */
  readonly writesBefore?: number;
}

/** Work takes milliseconds; longer it waits for something that the batch blocks. */
const defaultAttemptMillisecondsMax = 5_000;

/** Runs the work of a transaction once, synchronously unless a read returns a promise: awaiting
 *  available values costs more than most decisions. */
export function runAttempt(
  work: (tx: Transaction) => Awaitable<unknown>,
  attempt: Attempt,
): Awaitable<WorkResult> {
  try {
    const value = work(attempt);
    if (value instanceof Promise) return untilDone(value, attempt);
    attempt.end();
    return { value };
  } catch (error) {
    attempt.end();
    return { error };
  }
}

async function untilDone(value: Promise<unknown>, attempt: Attempt): Promise<WorkResult> {
  try {
    return { value: await value };
  } catch (error) {
    return { error };
  } finally {
    attempt.end();
  }
}

/** Runs the retries of a batch, one after the other, with a time limit for each, because the whole
 *  batch waits for it. */
export class BatchRetries {
  readonly #clock: Clock;
  readonly #timeoutMilliseconds: number;
  #current: Attempt | undefined;
  #startedAt: Ticks = 0n;
  #pendingTimeout: Promise<WorkResult> | undefined;
  #cancel = (): void => undefined;

  constructor(clock: Clock, timeoutMilliseconds = defaultAttemptMillisecondsMax) {
    this.#clock = clock;
    this.#timeoutMilliseconds = timeoutMilliseconds;
  }

  async run(queued: QueuedTransaction, attempt: Attempt): Promise<void> {
    queued.attempt = attempt;
    queued.isStale = false;
    queued.attemptsUsed += 1;
    this.#current = attempt;
    this.#startedAt = this.#clock.monotonic();
    const result = runAttempt(queued.work, attempt);
    queued.result =
      result instanceof Promise ? await Promise.race([result, this.#timeout()]) : result;
    if ("error" in queued.result) attempt.changes.clear();
  }

  end(): void {
    this.#cancel();
  }

  /** Resolves with an error when the current attempt times out. Work may await only the store: work
   *  that awaits another transaction, for example, would block the batch and wait for ever. */
  #timeout(): Promise<WorkResult> {
    this.#pendingTimeout ??= new Promise((resolve) => this.#startTimeout(resolve));
    return this.#pendingTimeout;
  }

  /** Restarts the timeout for the attempt that runs now: the limit is per attempt, not per
   *  batch. */
  #startTimeout(
    resolve: (result: WorkResult) => void,
    milliseconds = this.#timeoutMilliseconds,
  ): void {
    this.#cancel = this.#clock.after(milliseconds, () => {
      const elapsed = Number((this.#clock.monotonic() - this.#startedAt) / ticksPerMillisecond);
      if (elapsed < this.#timeoutMilliseconds) {
        this.#startTimeout(resolve, this.#timeoutMilliseconds - elapsed);
        return;
      }
      this.#current?.end();
      this.#pendingTimeout = undefined;
      const message =
        `transaction work timed out after ${this.#timeoutMilliseconds} ms: ` +
        "it may await only the store";
      resolve({ error: new WorkTimedOut(message) });
    });
  }
}

/** Whether a transaction that conflicted gets another attempt. If not, it fails with `StoreBusy`
 *  here, which clients get as 503. */
function mayRetry(queued: QueuedTransaction): boolean {
  if (queued.attemptsUsed < queued.attemptsMax) return true;
  const message = `${queued.attemptsUsed} conflicts in a row with other transactions`;
  queued.settle({ error: new StoreBusy(message) });
  return false;
}

/** Revisions of records are made of sequences: two commits with the same ones would hide a lost
 *  update from every later validation. */
function assertOrdered(result: BatchResult): void {
  if (result.kind !== "committed" || result.commit === undefined) return;
  const { previous, sequence } = result.commit;
  if (sequence > previous) return;
  throw new InvariantBroken(`a commit raises the sequence ${previous}`, sequence);
}

/** Whether the result of a transaction can be returned before the batch is committed: it wrote
 *  nothing and read only one committed state. */
function isFinal({ attempt }: QueuedTransaction): boolean {
  return attempt.changes.isEmpty && attempt.dependencies.size === 0;
}

/** The store time of a commit: the latest that one of its attempts has used, at least that of the
 *  state before (`floor`), because store time never decreases. */
export function latestTicks(attempts: readonly { readonly now: Ticks }[], floor: Ticks): Ticks {
  let latest = floor;
  for (const { now } of attempts) if (now > latest) latest = now;
  return latest;
}

export interface Committed {
  /** Sequence (number of the last commit) of the store before this one. */
  readonly previous: number;
  readonly sequence: number;
  readonly writes: readonly { readonly text: KeyText }[];
}

/** A durable commit of this process, for watchers and metrics. */
interface BatchCommit extends Committed {
  readonly transactions: number;
  /** Number of attempts that conflicted since the previous commit. */
  readonly conflicts: number;
}

/** What became of the transactions of a batch that were to be written. */
export type BatchResult =
  | {
      readonly kind: "committed";
      /** Transactions that were not committed and go into the next batch, because another process
       *  has changed what they, or the transactions on which they depend, have read. */
      readonly dropped: ReadonlySet<QueuedTransaction>;
      /** What was written; undefined if nothing was. */
      readonly commit: Committed | undefined;
    }
  /** Another process has priority: nothing was committed, and the batch is validated and written
   *  again later. */
  | { readonly kind: "postponed" };

/** The latest state for a batch: its transactions are compared with it, and retried on it. */
export interface BatchState {
  /** Whether earlier commits have changed what the attempt has read. A local engine compares it, so
   *  that the attempt is retried in this batch; a database does so only at the commit. */
  isStale(attempt: Attempt): boolean;
  /** Returns the reader of the latest state for the next attempt of a transaction. */
  readerFor(queued: QueuedTransaction): Awaitable<RetryReader>;
  /** Returns a reader without gaps, for an attempt that needed more than the predicted keys. */
  readonly fullReader?: () => Awaitable<StateReader>;
}

/** A reader of predicted keys (`postgres/prefetched-state.ts`), which may lack what an attempt asks
 *  for. Such an attempt is repeated on a full reader and does not count. */
interface RetryReader extends StateReader {
  readonly isIncomplete?: boolean;
}

/** A batch of transactions between its collection and its commit, as `BatchCommits` uses it. */
export interface PendingBatch {
  readonly transactions: readonly QueuedTransaction[];
  /** Retries the transactions that conflict, and returns those to write: each has read the given
   *  state and the changes of the ones before it. Called at most once. */
  accept(state: BatchState): Promise<readonly QueuedTransaction[]>;
  /** Adds the transactions that have been queued since and are valid for this state. Returns all
   *  transactions to write. Called with the state under the write lock, because the batch grows
   *  while it waits for the lock. */
  join(current: EngineReader): readonly QueuedTransaction[];
}

/** Validates a batch against the commits of all processes and writes it: under the write lock of an
 *  engine on this machine (`engine-commits.ts`), or in one call of a database
 *  (`postgres/database-commits.ts`). */
export interface BatchCommits {
  /** Commits the transactions of a batch that are valid. Rejects if nothing was committed. */
  commit(batch: PendingBatch): Promise<BatchResult>;
}

interface CommitterOptions {
  readonly commits: BatchCommits;
  readonly clock: Clock;
  readonly nextTicks: (reader: StateReader) => Ticks;
  readonly onCommitted: (commit: BatchCommit) => void;
  /** Time limit of a retry, for which the whole batch waits. Default: 5 s. */
  readonly attemptMillisecondsMax?: number;
}

/** Limit of the transactions that share a flush: with more, the first would wait too long. */
const batchTransactionsMax = 512;
/** Bounds the memory of waiting transactions; further ones fail with `StoreBusy`. */
const queueTransactionsMax = 100_000;

/**
 * Group commit: commits the queued transactions as one batch with one flush, while the next batch
 * is collected.
 *
 * A transaction that conflicts is retried inside the batch, on top of the changes of the
 * transactions before it. A hot key therefore costs no wasted flush, and transactions are served in
 * the order of arrival. Transactions that conflict with commits of other processes, and those that
 * depend on these, go into the next batch.
 */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #queue: QueuedTransaction[] = [];
  readonly #delay: BatchDelay;
  #conflicts = 0;
  /** Current limit of transactions per batch. It is halved when the disk has no space for a batch,
   *  because a part of the batch may fit. */
  #batchMax = batchTransactionsMax;
  #running: Promise<void> | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
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

  /** Resolves when the queue is empty: the store then may close its engine. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#delay.whileGrowing(this.#queue, this.#batchMax);
      const batch = this.#queue.splice(0, this.#batchMax);
      this.#delay.begin();
      await this.#commit(batch);
      this.#delay.end();
    }
    this.#running = undefined;
  }

  async #commit(transactions: readonly QueuedTransaction[]): Promise<void> {
    const limits = { queue: this.#queue, countMax: this.#batchMax };
    const batch = new Batch(transactions, copyWith(this.#options, limits));
    let result: BatchResult;
    const endSpans = beginSpans(transactions, "commit batch");
    try {
      result = await this.#options.commits.commit(batch);
      assertOrdered(result);
      endSpans?.();
    } catch (error) {
      endSpans?.(error);
      this.#fail(batch.accepted, error);
      return;
    } finally {
      this.#conflicts += batch.conflicts;
    }
    const { accepted } = batch;
    if (result.kind === "postponed") return this.#postpone(accepted);
    const { dropped, commit } = result;
    if (dropped.size > 0) this.#requeue(dropped);
    this.#batchMax = Math.min(2 * this.#batchMax, batchTransactionsMax);
    if (commit !== undefined) this.#report(commit, accepted, dropped);
    for (const queued of accepted) if (!dropped.has(queued)) queued.settle(queued.result);
  }

  #fail(accepted: readonly QueuedTransaction[], error: unknown): void {
    if (error instanceof StoreFull && accepted.length > 1) {
      this.#batchMax = Math.ceil(accepted.length / 2);
      this.#postpone(accepted);
    } else for (const queued of accepted) queued.settle({ error });
  }

  #report(
    commit: Committed,
    accepted: readonly QueuedTransaction[],
    dropped: ReadonlySet<QueuedTransaction>,
  ): void {
    let transactions = 0;
    for (const queued of accepted) {
      if (!queued.attempt.changes.isEmpty && !dropped.has(queued)) transactions += 1;
    }
    const { previous, sequence, writes } = commit;
    const conflicts = this.#conflicts;
    this.#options.onCommitted({ previous, sequence, writes, transactions, conflicts });
    this.#conflicts = 0;
  }

  #postpone(accepted: readonly QueuedTransaction[]): void {
    this.#queue.unshift(...accepted);
    for (const queued of accepted) queued.isStale = queued.attempt.dependencies.size > 0;
  }

  #requeue(conflicting: ReadonlySet<QueuedTransaction>): void {
    for (const queued of conflicting) {
      queued.isStale = true;
      queued.externalConflicts += 1;
    }
    this.#queue.unshift(...conflicting);
  }
}

/** Begins a span (timed part of a trace) for each traced request with a transaction in the batch.
 *  Returns a function that ends them; undefined if no request is traced. */
export function beginSpans(
  transactions: readonly QueuedTransaction[],
  name: string,
  attributes?: SpanAttributes,
): ((error?: unknown) => void) | undefined {
  let spans: Span[] | undefined;
  for (const { span } of transactions) {
    if (span === undefined) continue;
    const counted = { ...attributes, "etagere.batch.transactions": transactions.length };
    (spans ??= []).push(span.begin(name, counted));
  }
  return spans && ((error) => spans.forEach((span) => span.end(error)));
}

interface BatchOptions extends CommitterOptions {
  readonly queue: QueuedTransaction[];
  readonly countMax: number;
}

class Batch implements PendingBatch {
  readonly transactions: readonly QueuedTransaction[];
  /** The transactions without a result: before `accept` all, then those to write. */
  accepted: QueuedTransaction[];
  conflicts = 0;
  readonly #options: BatchOptions;
  readonly #shared = new BatchChanges();

  constructor(transactions: readonly QueuedTransaction[], options: BatchOptions) {
    this.transactions = transactions;
    this.accepted = [...transactions];
    this.#options = options;
  }

  async accept(state: BatchState): Promise<readonly QueuedTransaction[]> {
    const { clock, attemptMillisecondsMax } = this.#options;
    const accepted: QueuedTransaction[] = [];
    const retries = new BatchRetries(clock, attemptMillisecondsMax);
    try {
      for (const queued of this.transactions) {
        if (this.#conflicts(queued) || state.isStale(queued.attempt)) {
          if (queued.attemptsUsed > 0) this.conflicts += 1;
          if (!mayRetry(queued)) continue;
          await this.#retry(queued, state, retries);
          if (isFinal(queued)) {
            queued.settle(queued.result);
            continue;
          }
        }
        accepted.push(queued);
        // The changes of the last one are not shared: no later transaction of the batch reads them.
        if (queued !== this.transactions.at(-1)) this.#shared.share(queued.attempt);
      }
    } finally {
      retries.end();
    }
    this.accepted = accepted;
    return accepted;
  }

  join(current: EngineReader): readonly QueuedTransaction[] {
    const { queue, countMax } = this.#options;
    const last = this.accepted.at(-1);
    if (queue.length === 0 || last === undefined) return this.accepted;
    if (last === this.transactions.at(-1)) this.#shared.share(last.attempt);
    const cached = cachingReader(current);
    // Those that need a retry stay in the queue: it would hold the write lock for too long.
    const isReady = (queued: QueuedTransaction): boolean =>
      this.accepted.length < countMax &&
      !this.#conflicts(queued) &&
      (queued.attempt.sequence === current.sequence || !queued.attempt.isStaleAgainst(cached));
    for (const queued of queue.splice(0)) {
      if (isReady(queued)) {
        this.accepted.push(queued);
        this.#shared.share(queued.attempt);
      } else queue.push(queued);
    }
    return this.accepted;
  }

  #conflicts({ isStale, attempt }: QueuedTransaction): boolean {
    return isStale || attempt.conflictsWith(this.#shared.changes);
  }

  async #retry(queued: QueuedTransaction, state: BatchState, retries: BatchRetries): Promise<void> {
    const { nextTicks } = this.#options;
    const found = state.readerFor(queued);
    const reader = found instanceof Promise ? await found : found;
    await retries.run(queued, new Attempt(reader, nextTicks(reader), this.#shared));
    if (reader.isIncomplete !== true || state.fullReader === undefined) return;
    queued.attemptsUsed -= 1;
    const full = await state.fullReader();
    await retries.run(queued, new Attempt(full, nextTicks(full), this.#shared));
  }
}
