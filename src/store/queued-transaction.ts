import type { Awaitable } from "../base/awaitable.ts";
import { ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { Attempt } from "./attempt.ts";
import { StoreBusy } from "./store.ts";
import type { SnapshotOptions, Transaction } from "./store.ts";

export type WorkResult = { readonly value: unknown } | { readonly error: unknown };

/** A transaction that waits to be committed; its work has run unless it is to run in its turn. */
export interface QueuedTransaction {
  readonly work: (tx: Transaction) => Awaitable<unknown>;
  readonly attemptsMax: number;
  readonly prefetch?: SnapshotOptions["prefetch"] | undefined;
  readonly mayUseReserve?: boolean | undefined;
  readonly settle: (outcome: WorkResult) => void;
  attempt: Attempt;
  outcome: WorkResult;
  attemptsUsed: number;
  /** How often another process has beaten it under the write lock. */
  externalConflicts: number;
  /** The attempt is known to have read what is no longer so. */
  isStale: boolean;
}

const rerunMillisecondsMax = 5_000;

/** Waits for nothing that is there already. */
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

/** Runs again, one after the other, those of a batch who have to. */
export class BatchRetries {
  readonly #clock: Clock;
  readonly #patienceMilliseconds: number;
  #current: Attempt | undefined;
  #began: Ticks = 0n;
  #impatience: Promise<WorkResult> | undefined;
  #cancel = (): void => undefined;

  constructor(clock: Clock, timeoutMilliseconds = rerunMillisecondsMax) {
    this.#clock = clock;
    this.#patienceMilliseconds = timeoutMilliseconds;
  }

  async run(pending: QueuedTransaction, attempt: Attempt): Promise<void> {
    pending.attempt = attempt;
    pending.isStale = false;
    pending.attemptsUsed += 1;
    this.#current = attempt;
    this.#began = this.#clock.monotonic();
    const outcome = runAttempt(pending.work, attempt);
    pending.outcome =
      outcome instanceof Promise ? await Promise.race([outcome, this.#patience()]) : outcome;
    if ("error" in pending.outcome) attempt.changes.clear();
  }

  end(): void {
    this.#cancel();
  }

  /** Work awaits nothing but the store, which answers at once; work that waits for something else,
   *  such as another transaction, would hold up everyone, and itself for ever. */
  #patience(): Promise<WorkResult> {
    this.#impatience ??= new Promise((resolve) => this.#watch(resolve));
    return this.#impatience;
  }

  /** Whoever has begun since is given as long: many that are quick may take long together. */
  #watch(resolve: (outcome: WorkResult) => void, milliseconds = this.#patienceMilliseconds): void {
    this.#cancel = this.#clock.after(milliseconds, () => {
      const ran = Number((this.#clock.monotonic() - this.#began) / ticksPerMillisecond);
      if (ran < this.#patienceMilliseconds) {
        this.#watch(resolve, this.#patienceMilliseconds - ran);
        return;
      }
      this.#current?.end();
      this.#impatience = undefined;
      resolve({ error: new Error("the work of a transaction waits for more than the store") });
    });
  }
}

export function mayRetry(pending: QueuedTransaction): boolean {
  if (pending.attemptsUsed < pending.attemptsMax) return true;
  const message = `lost to other transactions ${pending.attemptsUsed} times in a row`;
  pending.settle({ error: new StoreBusy(message) });
  return false;
}

/** Nothing was committed; only those who neither wrote nor saw what was to be written have an
 *  answer that holds. */
export function failUncommitted(accepted: readonly QueuedTransaction[], error: unknown): void {
  for (const { attempt, outcome, settle } of accepted) {
    const holds = attempt.changes.isEmpty && attempt.dependencies.size === 0;
    settle(holds ? outcome : { error });
  }
}

export function latestTicks(attempts: readonly Attempt[], floor: Ticks): Ticks {
  let latest = floor;
  for (const { now } of attempts) if (now > latest) latest = now;
  return latest;
}
