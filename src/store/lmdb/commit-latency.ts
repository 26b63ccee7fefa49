import { ticksPerMillisecond } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";

/** Commits that take longer than this on average are slow. */
export const quickTicksMax = 3n * ticksPerMillisecond;
/** What each write may add to that. */
export const writeTicksMax = ticksPerMillisecond / 50n;
/** Of how much the latest commit counts: one that was held up by chance is soon forgotten. */
const averagedCommits = 8;

/**
 * Whether commits are quick enough to stand still for. Handing one to another thread and being
 * woken by it costs more than flushing it to a good disk; with a slow disk, or with another process
 * that holds the lock, everyone who only reads would have to wait too.
 */
export class CommitLatency {
  readonly #clock: Clock;
  #averageTicks = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFast(): boolean {
    return this.#averageTicks <= Number(quickTicksMax);
  }

  begin(): Ticks {
    return this.#clock.monotonic();
  }

  end(began: Ticks, writes: number): void {
    const taken = this.#clock.monotonic() - began - BigInt(writes) * writeTicksMax;
    this.#averageTicks += (Math.max(0, Number(taken)) - this.#averageTicks) / averagedCommits;
  }
}
