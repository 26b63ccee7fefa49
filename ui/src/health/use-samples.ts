import { getHealthHistory, type HealthSample } from "../admin/health.ts";
import { useRepeating } from "../clock.ts";
import { useLoad } from "../load.ts";
import type { Span } from "./chart.tsx";

const spans: Readonly<Record<string, Span>> = {
  minutes: { milliseconds: 120_000, words: "2 minutes" },
  ten: { milliseconds: 600_000, words: "10 minutes" },
  hour: { milliseconds: 3_600_000, words: "1 hour" },
  day: { milliseconds: 86_400_000, words: "1 day" },
};

export const spanChoices = Object.entries(spans).map(
  ([id, { words }]) => [id, `Last ${words}`] as const,
);

const secondsMilliseconds = 1000;
const minutesMilliseconds = 30_000;
const none: readonly HealthSample[] = [];

/** The samples of a period from the history of the server: by second for the last ten minutes, by
 *  minute before that. */
export function useSamples(period: string): {
  readonly samples: readonly HealthSample[];
  readonly span: Span;
} {
  const seconds = useLoad((signal) => getHealthHistory(1, signal), []);
  const minutes = useLoad((signal) => getHealthHistory(60, signal), []);
  useRepeating(seconds.reload, secondsMilliseconds);
  useRepeating(minutes.reload, minutesMilliseconds);
  const span = spans[period] ?? { milliseconds: 120_000, words: "2 minutes" };
  const recent = seconds.value?.samples ?? none;
  const first = recent[0]?.now ?? "9";
  const older = (minutes.value?.samples ?? none).filter(({ now }) => now < first);
  const all = [...older, ...recent];
  const end = Date.parse(all.at(-1)?.now ?? "");
  const samples = all.filter(({ now }) => end - Date.parse(now) <= span.milliseconds);
  return { samples: thinned(samples), span };
}

/** Points that a chart can show. */
const pointsMax = 300;

/** Every nth sample, so that a long period has no more points than a chart can show. The last one
 *  stays: its values are shown as text. */
function thinned(samples: readonly HealthSample[]): readonly HealthSample[] {
  const step = Math.ceil(samples.length / pointsMax);
  return samples.filter((_, index) => (samples.length - 1 - index) % step === 0);
}
