import type { WaitDecision } from "./reply.ts";
import { ticksPerMillisecond } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { Store } from "../store/store.ts";

/** More turns than anybody takes in half a minute. */
const turnsMax = 10_000;

export interface WaitOutcome extends WaitDecision {
  readonly kind: "wait";
}

export interface WaitParts {
  readonly store: Store;
  readonly clock: Clock;
}

/** Asks again whenever something changes under the key, and at the latest when the time is up:
 *  then the decision itself says what that means. */
export async function runUntilReady<T extends { readonly kind: string }>(
  { store, clock }: WaitParts,
  { wait }: WaitDecision,
  ask: () => Promise<T | WaitOutcome>,
): Promise<T> {
  const bell = newSignal();
  const unwatch = store.watch(wait.key, bell.ring);
  try {
    for (let turn = 0; turn < turnsMax; turn += 1) {
      const heard = bell.heard();
      const answer = await ask();
      if (!isWaitOutcome(answer)) return answer;
      const now = await store.snapshot((view) => Promise.resolve(view.now));
      const left = Number((answer.wait.until - now) / ticksPerMillisecond) + 1;
      const cancel = clock.after(Math.max(left, 1), bell.ring);
      await heard;
      cancel();
    }
  } finally {
    unwatch();
  }
  throw new Error("an operation waited too often");
}

export function isWaitOutcome(answer: { readonly kind: string }): answer is WaitOutcome {
  return answer.kind === "wait";
}

function newSignal() {
  let listener = (): void => {};
  return {
    ring: (): void => listener(),
    heard: (): Promise<void> =>
      new Promise((resolve) => {
        listener = resolve;
      }),
  };
}
