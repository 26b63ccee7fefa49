import { ticksPerMillisecond } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import { AverageDuration } from "./average-duration.ts";

/** A batch waits at most half as long as a commit takes on average, and 10 ms. */
const waitShare = 0.5;
const waitTicksMax = 10 * Number(ticksPerMillisecond);

/** Delays a batch while further transactions arrive for it. Clients whose requests were answered
 *  together send their next ones within a short time of each other. Without the delay the first few
 *  would be committed alone and the others would wait for their flush. */
export class BatchDelay {
  readonly #clock: Clock;
  readonly #commit: AverageDuration;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#commit = new AverageDuration(clock);
  }

  /** Resolves at the end of the first event-loop iteration in which the queue has not grown, when
   *  it has reached `countMax`, or when it is too late for more. */
  async whileGrowing(queue: { readonly length: number }, countMax: number): Promise<void> {
    const wait = Math.min(Math.round(this.#commit.ticks * waitShare), waitTicksMax);
    const end = this.#clock.monotonic() + BigInt(wait);
    let count: number;
    do {
      count = queue.length;
      await new Promise((resolve) => setImmediate(resolve));
    } while (queue.length > count && queue.length < countMax && this.#clock.monotonic() < end);
  }

  begin(): void {
    this.#commit.begin();
  }

  end(): void {
    this.#commit.end();
  }
}
