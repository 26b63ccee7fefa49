import { ticksPerSecond, type Ticks } from "../../core/ticks.ts";

const failuresMax = 10;
const windowTicks = 60n * ticksPerSecond;

/** Counts failed logins, of everyone together: a guesser may have many addresses. */
export class Attempts {
  readonly #failures: Ticks[] = [];

  /** Whole seconds until the next attempt is looked at; 0 if it is now. */
  waitSeconds(now: Ticks): number {
    const oldest = this.#failures[0];
    if (oldest === undefined || this.#failures.length < failuresMax) return 0;
    const left = oldest + windowTicks - now;
    return left <= 0n ? 0 : Number((left + ticksPerSecond - 1n) / ticksPerSecond);
  }

  failed(now: Ticks): void {
    this.#failures.push(now);
    if (this.#failures.length > failuresMax) this.#failures.shift();
  }
}
