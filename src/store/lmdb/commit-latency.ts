import { ticksPerMillisecond } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";

/** Average above which commits count as slow: 3 ms. */
export const fastTicksMax = 3n * ticksPerMillisecond;
/** Allowance for each write of a batch: 20 µs. */
export const writeTicksMax = ticksPerMillisecond / 50n;
/** Weight of the latest commit in the average is 1/8: a single delayed commit has little effect. */
const averagedCommits = 8;

/** Decides whether commits may block the event loop. Handing a commit to another thread and being
 *  woken by it costs more than flushing it to a fast disk: synchronous commits are 40 % faster with
 *  one connection (docs/bench/README.md). With a slow disk, or while another process holds the
 *  write lock, blocking would delay all readers of the process. */
export class CommitLatency {
  readonly #clock: Clock;
  #averageTicks = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isFast(): boolean {
    return this.#averageTicks <= Number(fastTicksMax);
  }

  begin(): Ticks {
    return this.#clock.monotonic();
  }

  end(startedAt: Ticks, writes: number): void {
    const elapsed = this.#clock.monotonic() - startedAt - BigInt(writes) * writeTicksMax;
    this.#averageTicks += (Math.max(0, Number(elapsed)) - this.#averageTicks) / averagedCommits;
  }
}
