import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { ViewContext } from "../admin-context.ts";
import { Ring } from "../feed/feed-event.ts";
import type { FigureSample } from "./figures.ts";
import { between, secondsBetween } from "./rates.ts";

/** The samples that the charts of the page "Health" show, which are kept in memory: those of the
 *  last ten minutes and of the last day, together less than 4 MiB. */
const periods = [
  { everySeconds: 1, samplesMax: 600 },
  { everySeconds: 60, samplesMax: 1440 },
] as const;

/** Accepted values of `everySeconds`, the interval between two samples. */
export const everySecondsValues = periods.map(({ everySeconds }) => String(everySeconds));

const millisecondsPerSecond = 1000;

/** Figures that the counters of requests do not have. */
interface HistorySources {
  /** Rejected requests since the start, by rule. */
  readonly refusalsByRule: () => ReadonlyMap<string, number>;
  /** Bytes on disk and in use; measured once a minute, because their cost grows with the data. */
  readonly measureBytes: () => Promise<StoredBytes>;
}

interface StoredBytes {
  readonly storeBytes?: number;
  readonly contentBytes?: number;
  readonly liveBytes?: number;
}

/** Takes the samples in the background, whether or not a page is open, so that a page shows what
 *  happened before it was opened. A request costs no more for it: the counters exist anyway. */
export class HealthHistory {
  readonly #context: ViewContext;
  readonly #sources: HistorySources;
  readonly #series: readonly Series[];
  #bytes: StoredBytes = {};
  #seconds = 0;
  #cancel = (): void => {};
  #isClosed = false;

  constructor(context: ViewContext, sources: HistorySources) {
    this.#context = context;
    this.#sources = sources;
    this.#series = periods.map(({ everySeconds, samplesMax }) => ({
      everySeconds,
      samples: new Ring(samplesMax),
      last: undefined,
    }));
    this.#schedule();
  }

  /** Oldest first. */
  render(everySeconds: number): object {
    const { samples } = this.#series.find((each) => each.everySeconds === everySeconds) ?? {};
    return { everySeconds, samples: [...(samples?.latest() ?? [])].toReversed() };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const { clock } = this.#context;
    this.#cancel = clock.after(millisecondsPerSecond, () => void this.#take());
  }

  async #take(): Promise<void> {
    const { clock, figures, log } = this.#context;
    this.#seconds += 1;
    try {
      const due = this.#series.filter(({ everySeconds }) => this.#seconds % everySeconds === 0);
      if (due.some(({ everySeconds }) => everySeconds > 1) || this.#seconds === 1) {
        this.#bytes = await this.#sources.measureBytes();
      }
      const sample = await figures.sample();
      const rules = new Map(this.#sources.refusalsByRule());
      const now = { at: clock.monotonic(), sample, rules };
      for (const series of due) {
        if (series.last !== undefined) series.samples.push(this.#compare(series.last, now));
        series.last = now;
      }
    } catch (error) {
      log.warn({ err: error }, "health sample failed; retrying in 1 s");
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
    const { storeBytes, contentBytes, liveBytes } = this.#bytes;
    return {
      now: formatIso(this.#context.clock.wall()),
      overSeconds: over,
      requests,
      services,
      rules: ruleRates(before.rules, now.rules, over),
      store: { ...store, bytes: storeBytes },
      content: { ...content, bytes: contentBytes, liveBytes },
      process,
    };
  }
}

/** Rejected requests per second by rule, for rules that rejected any. */
function ruleRates(
  before: ReadonlyMap<string, number>,
  now: ReadonlyMap<string, number>,
  over: number,
): Readonly<Record<string, number>> {
  const rates = [...now].map(([rule, count]): [string, number] => {
    const more = count - (before.get(rule) ?? 0);
    return [rule, over > 0 ? Math.round((1000 * more) / over) / 1000 : 0];
  });
  return Object.fromEntries(rates.filter(([, rate]) => rate > 0));
}

interface Series {
  readonly everySeconds: number;
  readonly samples: Ring<object>;
  last: TimedSample | undefined;
}

interface TimedSample {
  readonly at: Ticks;
  readonly sample: FigureSample;
  readonly rules: ReadonlyMap<string, number>;
}
