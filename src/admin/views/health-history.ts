import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { ViewContext } from "../admin-context.ts";
import { Ring } from "../feed/feed-event.ts";
import type { FigureSample } from "./figures.ts";
import { between, secondsBetween } from "./rates.ts";

/** Keeps in memory the samples that the charts of the page "Health" of the explorer show. */

/** The intervals of the samples, and how many of each are kept: those of ten minutes and of a day,
 *  together less than 4 MiB. */
const periods = [
  { everySeconds: 1, samplesMax: 600 },
  { everySeconds: 60, samplesMax: 1440 },
] as const;

/** Accepted values of `everySeconds`, the interval between two samples. */
export const everySecondsValues = periods.map(({ everySeconds }) => String(everySeconds));

const millisecondsPerSecond = 1000;

/** What a sample contains besides the counters of `Figures`. */
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
  render(everySeconds: number): HistoryView {
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
      const now = { at: clock.monotonic(), wall: clock.wall(), sample, rules };
      for (const series of due) {
        const { last, samples } = series;
        if (last !== undefined) samples.push(compare(last, now, this.#bytes));
        series.last = now;
      }
    } catch (error) {
      log.warn({ err: error }, "health sample failed; retrying in 1 s");
    }
    this.#schedule();
  }
}

/** A sample of the history: the rates between two samples of the counters. */
export type HealthSample = ReturnType<typeof compare>;

export interface HistoryView {
  readonly everySeconds: number;
  /** Oldest first. */
  readonly samples: readonly HealthSample[];
}

function compare(before: TimedSample, now: TimedSample, bytes: StoredBytes) {
  const overSeconds = secondsBetween(before.at, now.at);
  const { requests, services, store, content, process } = between(
    before.sample,
    now.sample,
    overSeconds,
  );
  const { storeBytes, contentBytes, liveBytes } = bytes;
  return {
    now: formatIso(now.wall),
    overSeconds,
    requests,
    services,
    rules: ruleRates(before.rules, now.rules, overSeconds),
    store: { ...store, bytes: storeBytes },
    content: { ...content, bytes: contentBytes, liveBytes },
    process,
  };
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
  readonly samples: Ring<HealthSample>;
  last: TimedSample | undefined;
}

interface TimedSample {
  readonly at: Ticks;
  readonly wall: Ticks;
  readonly sample: FigureSample;
  readonly rules: ReadonlyMap<string, number>;
}
