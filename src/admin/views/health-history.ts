import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { ViewContext } from "../admin-context.ts";
import { Ring } from "../feed/feed.ts";
import type { FigureSample } from "./figures.ts";
import { between, secondsBetween } from "./rates.ts";

/** Time between samples. */
const sampleSeconds = 5;
/** Samples kept: one hour, less than 1 MiB. */
const samplesMax = 720;
const millisecondsPerSecond = 1000;

/** The rates of the last hour. They are sampled in the background whether or not a page is open, so
 *  that a page shows what happened before. Requests cost nothing more: their counters exist
 *  anyway. */
export class HealthHistory {
  readonly #context: ViewContext;
  readonly #samples = new Ring<object>(samplesMax);
  #last: TimedSample | undefined;
  #cancel = (): void => {};
  #isClosed = false;

  constructor(context: ViewContext) {
    this.#context = context;
    this.#schedule();
  }

  /** Oldest first. */
  render(): object {
    return { everySeconds: sampleSeconds, samples: [...this.#samples.latest()].toReversed() };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const { clock } = this.#context;
    this.#cancel = clock.after(sampleSeconds * millisecondsPerSecond, () => void this.#take());
  }

  async #take(): Promise<void> {
    const { clock, figures, log } = this.#context;
    try {
      const sample = await figures.sample();
      const at = clock.monotonic();
      if (this.#last !== undefined) this.#samples.push(this.#compare(this.#last, { at, sample }));
      this.#last = { at, sample };
    } catch (error) {
      log.warn({ err: error }, "health sample failed; retrying in 5 s");
    }
    this.#schedule();
  }

  #compare(before: TimedSample, now: TimedSample): object {
    const over = secondsBetween(before.at, now.at);
    const { requests, services, store, content, process } = between(
      before.sample,
      now.sample,
      over,
    );
    const at = formatIso(this.#context.clock.wall());
    return { now: at, overSeconds: over, requests, services, store, content, process };
  }
}

interface TimedSample {
  readonly at: Ticks;
  readonly sample: FigureSample;
}
