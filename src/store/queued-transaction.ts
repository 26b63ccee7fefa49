import type { Awaitable } from "../base/awaitable.ts";
import { ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { Attempt } from "./attempt.ts";
import { StoreBusy } from "./store.ts";
import type { SnapshotOptions, Transaction } from "./store.ts";

/** What the work of a transaction returned or threw. */
export type WorkResult = { readonly value: unknown } | { readonly error: unknown };

/** A transaction in the commit queue. Its work has run once, unless it runs only inside the batch
 *  (`runInBatch`). */
export interface QueuedTransaction {
  readonly work: (tx: Transaction) => Awaitable<unknown>;
  readonly attemptsMax: number;
  readonly prefetch?: SnapshotOptions["prefetch"] | undefined;
  readonly mayUseReserve?: boolean | undefined;
  readonly settle: (result: WorkResult) => void;
  attempt: Attempt;
  result: WorkResult;
  attemptsUsed: number;
  /** Conflicts with commits of other processes, found under the write lock. */
  externalConflicts: number;
  /** Whether the read set of the attempt is known to be invalid. */
  isStale: boolean;
  /** The committer's `writes` before the view of the first attempt was opened. */
  readonly writesBefore?: number;
}

const attemptMillisecondsMax = 5_000;

/** Runs work once. It runs synchronously unless a read returns a promise: awaiting available values
 *  costs more than most decisions. */
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

/** Runs the retries of a batch, one after the other. */
export class BatchRetries {
  readonly #clock: Clock;
  readonly #timeoutMilliseconds: number;
  #current: Attempt | undefined;
  #startedAt: Ticks = 0n;
  #pendingTimeout: Promise<WorkResult> | undefined;
  #cancel = (): void => undefined;

  constructor(clock: Clock, timeoutMilliseconds = attemptMillisecondsMax) {
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

  /** Resolves with an error when the current attempt times out. Work may await only the store; work
   *  that awaits something else, such as another transaction, would block the batch and wait for
   *  ever. */
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
      resolve({ error: new Error(message) });
    });
  }
}

/** Whether a transaction that conflicted gets another attempt. If not, it fails with
 *  `StoreBusy`. */
export function mayRetry(queued: QueuedTransaction): boolean {
  if (queued.attemptsUsed < queued.attemptsMax) return true;
  const message = `${queued.attemptsUsed} conflicts in a row with other transactions`;
  queued.settle({ error: new StoreBusy(message) });
  return false;
}

/** Called when a batch was not committed. Fails all its transactions, except those that wrote
 *  nothing and depend on no other, whose results are valid. */
export function failUncommitted(accepted: readonly QueuedTransaction[], error: unknown): void {
  for (const { attempt, result, settle } of accepted) {
    const isValid = attempt.changes.isEmpty && attempt.dependencies.size === 0;
    settle(isValid ? result : { error });
  }
}

export function latestTicks(attempts: readonly { readonly now: Ticks }[], floor: Ticks): Ticks {
  let latest = floor;
  for (const { now } of attempts) if (now > latest) latest = now;
  return latest;
}
