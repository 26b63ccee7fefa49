import type { Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";

/** Weight of the latest duration is 1/8: a single delayed operation has little effect. */
const averaged = 8;

/** Moving average of the duration of an operation. */
export class AverageDuration {
  readonly #clock: Clock;
  #ticks = 0;
  #startedAt: Ticks = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get ticks(): number {
    return this.#ticks;
  }

  begin(): void {
    this.#startedAt = this.#clock.monotonic();
  }

  end(): void {
    const elapsed = Number(this.#clock.monotonic() - this.#startedAt);
    this.#ticks += (elapsed - this.#ticks) / averaged;
  }
}
