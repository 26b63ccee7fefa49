import type { HealthSample } from "../admin/health.ts";
import { bytes, count } from "../format.ts";
import type { ChartProps, Line } from "./chart.tsx";

interface Curve {
  readonly name: string;
  readonly tone: Line["tone"];
  readonly read: (sample: HealthSample) => number | undefined;
}

interface ChartPlan {
  readonly title: string;
  readonly format: (value: number) => string;
  readonly curves: readonly Curve[];
}

export const perSecond = (value: number): string => `${oneDigit(value)}/s`;
const oneDigit = (value: number): string => count(Math.round(value * 10) / 10);
const bytesPerSecond = (value: number): string => `${bytes(value)}/s`;
export const milliseconds = (value: number): string =>
  `${(value * 1000).toFixed(value < 0.01 ? 2 : 0)} ms`;
const percent = (value: number): string => `${value.toFixed(0)} %`;

/** The highest latency of all services. */
function latency(sample: HealthSample, which: "p50" | "p99"): number {
  const busy = Object.values(sample.services).filter((one) => one.perSecond > 0);
  return Math.max(0, ...busy.flatMap(({ latencySeconds }) => latencySeconds?.[which] ?? []));
}

function curve(name: string, tone: Curve["tone"], read: Curve["read"]): Curve {
  return { name, tone, read };
}

export const charts: readonly ChartPlan[] = [
  {
    title: "Requests",
    format: perSecond,
    curves: [
      curve("all", "accent", ({ requests }) => requests.perSecond),
      curve("rejected", "warn", ({ requests }) => requests.refusedPerSecond),
      curve("errors", "bad", ({ requests }) => requests.errorsPerSecond),
    ],
  },
  {
    title: "Latency",
    format: milliseconds,
    curves: [
      curve("median", "accent", (sample) => latency(sample, "p50")),
      curve("99 %", "warn", (sample) => latency(sample, "p99")),
    ],
  },
  {
    title: "Commits",
    format: perSecond,
    curves: [
      curve("transactions", "accent", ({ store }) => store.perSecond),
      curve("conflicts", "warn", ({ store }) => store.conflictsPerSecond),
    ],
  },
  {
    title: "Transactions per commit batch",
    format: oneDigit,
    curves: [
      curve("mean", "accent", ({ store }) => store.batch?.mean),
      curve("99 %", "warn", ({ store }) => store.batch?.p99),
    ],
  },
  {
    title: "Traffic",
    format: bytesPerSecond,
    curves: [
      curve("received", "accent", ({ content }) => content.receivedBytesPerSecond),
      curve("sent", "soft", ({ content }) => content.sentBytesPerSecond),
    ],
  },
  {
    title: "Processor",
    format: percent,
    curves: [curve("one core is 100 %", "accent", ({ process }) => process.cpuPercent)],
  },
];

export function chartOf(
  { title, format, curves }: ChartPlan,
  samples: readonly HealthSample[],
): Omit<ChartProps, "span"> {
  const lines = curves.map(({ name, tone, read }) => ({ name, tone, values: samples.map(read) }));
  const times = samples.map(({ now }) => Date.parse(now));
  return { title, format, lines, times };
}
