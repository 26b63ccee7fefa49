import type { Waiting } from "../core/operation.ts";
import { ticksPerMillisecond } from "../core/ticks.ts";
import type { Clock } from "../core/world.ts";
import type { Store } from "../store/store.ts";

/** More turns than anybody takes in half a minute. */
const turnsMax = 10_000;

export interface Pending extends Waiting {
  readonly kind: "wait";
}

export interface WaitParts {
  readonly store: Store;
  readonly clock: Clock;
}

/** Asks again whenever something changes under the key, and at the latest when the time is up:
 *  then the decision itself says what that means. */
export async function waitFor<T extends { readonly kind: string }>(
  { store, clock }: WaitParts,
  { wait }: Waiting,
  ask: () => Promise<T | Pending>,
): Promise<T> {
  const bell = newBell();
  const unwatch = store.watch(wait.key, bell.ring);
  try {
    for (let turn = 0; turn < turnsMax; turn += 1) {
      const heard = bell.heard();
      const answer = await ask();
      if (!isPending(answer)) return answer;
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

export function isPending(answer: { readonly kind: string }): answer is Pending {
  return answer.kind === "wait";
}

function newBell() {
  let listener = (): void => {};
  return {
    ring: (): void => listener(),
    heard: (): Promise<void> =>
      new Promise((resolve) => {
        listener = resolve;
      }),
  };
}
