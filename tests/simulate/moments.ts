import type { Scheduler } from "./scheduler.ts";

/** Steps of the servers of a machine at which an end of a process tells most. */
export const momentNames = [
  "write of content",
  "flush of content",
  "commit begun",
  "commit applied",
  "request delivered",
  "response sent",
] as const;

export type Moment = (typeof momentNames)[number];

const afterMicrosecondsMax = 300;

/** Lets a fault wait for a step of a server, instead of for a time at which usually nothing
 *  happens. */
export class Moments {
  readonly #scheduler: Scheduler;
  readonly #waiting = new Map<Moment, (() => void)[]>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** A server has reached such a step. */
  reach(moment: Moment): void {
    if (this.#waiting.size === 0) return;
    const waiting = this.#waiting.get(moment) ?? [];
    this.#waiting.delete(moment);
    for (const run of waiting) run();
  }

  /** Calls `run` once: shortly after the next such step, or after `microsecondsMax` without one. */
  next(moment: Moment, microsecondsMax: number, run: () => void): void {
    let isDone = false;
    const once = (): void => {
      if (isDone) return;
      isDone = true;
      cancel();
      run();
    };
    const cancel = this.#scheduler.schedule(microsecondsMax, once);
    const soon = (): void => {
      const { random } = this.#scheduler;
      this.#scheduler.schedule(random.below(random.pick([1, 20, afterMicrosecondsMax])), once);
    };
    this.#waiting.set(moment, [...(this.#waiting.get(moment) ?? []), soon]);
  }
}
