import { ticksPerMillisecond } from "../../core/ticks.ts";
import type { Ticks } from "../../core/ticks.ts";
import type { Clock } from "../../core/world.ts";

/** A commit that keeps the process for longer than this is slow. */
export const quickTicksMax = 3n * ticksPerMillisecond;
/** What one write may add to that. */
export const writeTicksMax = ticksPerMillisecond / 50n;
/** So many quick commits in a row make up for a slow one. */
export const quickCommitsWanted = 64;

/**
 * Whether commits are quick enough to stand still for. Handing one to another thread and being
 * woken by it costs more than flushing it to a good disk; with a slow disk, or with another process
 * that holds the lock, everyone who only reads would have to wait too.
 */
export class CommitPace {
  readonly #clock: Clock;
  #quickCommitsLeft = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isQuick(): boolean {
    return this.#quickCommitsLeft === 0;
  }

  begin(): Ticks {
    return this.#clock.monotonic();
  }

  end(began: Ticks, writes: number): void {
    const taken = this.#clock.monotonic() - began;
    if (taken > quickTicksMax + BigInt(writes) * writeTicksMax) {
      this.#quickCommitsLeft = quickCommitsWanted;
    } else if (this.#quickCommitsLeft > 0) {
      this.#quickCommitsLeft -= 1;
    }
  }
}
