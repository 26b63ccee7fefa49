import type { Awaitable } from "../core/awaitable.ts";
import type { Ticks } from "../core/ticks.ts";
import type { Clock } from "../core/world.ts";
import type { Attempt } from "./attempt.ts";
import { StoreBusy } from "./store.ts";
import type { Transaction } from "./store.ts";

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A transaction whose work has run at least once and waits to be committed. */
export interface Pending {
  readonly work: (tx: Transaction) => Awaitable<unknown>;
  readonly attemptsMax: number;
  readonly settle: (outcome: Outcome) => void;
  attempt: Attempt;
  outcome: Outcome;
  attemptsUsed: number;
  /** How often another process has beaten it under the write lock. */
  drops: number;
  /** The attempt is known to have read what is no longer so. */
  isStale: boolean;
}

const rerunMillisecondsMax = 5_000;

export async function runAttempt(
  work: (tx: Transaction) => Awaitable<unknown>,
  attempt: Attempt,
): Promise<Outcome> {
  try {
    return { value: await work(attempt) };
  } catch (error) {
    return { error };
  } finally {
    attempt.end();
  }
}

export async function runAgain(pending: Pending, clock: Clock, attempt: Attempt): Promise<void> {
  pending.attempt = attempt;
  pending.isStale = false;
  pending.attemptsUsed += 1;
  pending.outcome = await withinPatience(pending, clock);
  if ("error" in pending.outcome) attempt.changes.clear();
}

/** Work awaits nothing but the store, which answers at once; work that waits for something else,
 *  such as another transaction, would hold up everyone, and itself for ever. */
async function withinPatience({ work, attempt }: Pending, clock: Clock): Promise<Outcome> {
  let cancel = (): void => undefined;
  const patience = new Promise<Outcome>((resolve) => {
    cancel = clock.after(rerunMillisecondsMax, () => {
      attempt.end();
      resolve({ error: new Error("the work of a transaction waits for more than the store") });
    });
  });
  const outcome = await Promise.race([runAttempt(work, attempt), patience]);
  cancel();
  return outcome;
}

export function mayRunAgain(pending: Pending): boolean {
  if (pending.attemptsUsed < pending.attemptsMax) return true;
  const message = `lost to other transactions ${pending.attemptsUsed} times in a row`;
  pending.settle({ error: new StoreBusy(message) });
  return false;
}

/** Nothing was committed; only those who neither wrote nor saw what was to be written have an
 *  answer that holds. */
export function settleUnwritten(accepted: readonly Pending[], error: unknown): void {
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
