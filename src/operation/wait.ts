import type { WaitDecision } from "./reply.ts";
import { ticksPerMillisecond } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { Store } from "../store/store.ts";

/** Far more attempts than a wait of 30 s has; reaching it is a bug. */
const attemptsMax = 10_000;

/** The outcome of a run whose decision must wait. */
export interface WaitOutcome extends WaitDecision {
  readonly kind: "wait";
}

/** What waiting needs: notifications of changes, and timers. */
export interface WaitParts {
  readonly store: Store;
  readonly clock: Clock;
}

/** Runs `attempt` again, when a key under `wait.key` changes and at `wait.until`, until its outcome
 *  is not a wait. The decision itself handles the time-out. */
export async function runUntilReady<T extends { readonly kind: string }>(
  { store, clock }: WaitParts,
  { wait }: WaitDecision,
  attempt: () => Promise<T | WaitOutcome>,
): Promise<T> {
  const signal = newSignal();
  const unwatch = store.watch(wait.key, signal.raise);
  try {
    for (let count = 0; count < attemptsMax; count += 1) {
      const raised = signal.next();
      const outcome = await attempt();
      if (!isWaitOutcome(outcome)) return outcome;
      const now = await store.snapshot((view) => Promise.resolve(view.now));
      const left = Number((outcome.wait.until - now) / ticksPerMillisecond) + 1;
      const cancel = clock.after(Math.max(left, 1), signal.raise);
      await raised;
      cancel();
    }
  } finally {
    unwatch();
  }
  throw new Error(`an operation waited more than ${attemptsMax} times`);
}

export function isWaitOutcome(outcome: { readonly kind: string }): outcome is WaitOutcome {
  return outcome.kind === "wait";
}

function newSignal() {
  let listener = (): void => {};
  return {
    raise: (): void => listener(),
    next: (): Promise<void> =>
      new Promise((resolve) => {
        listener = resolve;
      }),
  };
}
