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

type Percentile = "p50" | "p90" | "p99";

/** The latency of a service, or the highest of all. */
function latency(sample: HealthSample, service: string, which: Percentile): number {
  const wanted = Object.entries(sample.services).filter(
    ([name, one]) => one.perSecond > 0 && (service === "" || name === service),
  );
  return Math.max(0, ...wanted.flatMap(([, { latencySeconds }]) => latencySeconds?.[which] ?? []));
}

function curve(name: string, tone: Curve["tone"], read: Curve["read"]): Curve {
  return { name, tone, read };
}

const rules = [
  ["condition", "condition", "accent"],
  ["lease", "lease", "warn"],
  ["existence", "existence", "soft"],
  ["decision", "operation", "bad"],
] as const;

/** The charts of a service; of all together if `service` is empty. */
export function chartsOf(service: string): readonly ChartPlan[] {
  return [requestChart(service), rejectionChart, latencyChart(service), ...storeCharts];
}

function requestChart(service: string): ChartPlan {
  if (service !== "") {
    const read = ({ services }: HealthSample) => services[service]?.perSecond ?? 0;
    return {
      title: `Requests of ${service}`,
      format: perSecond,
      curves: [curve("all", "accent", read)],
    };
  }
  return {
    title: "Requests",
    format: perSecond,
    curves: [
      curve("all", "accent", ({ requests }) => requests.perSecond),
      curve("rejected", "warn", ({ requests }) => requests.refusedPerSecond),
      curve("errors", "bad", ({ requests }) => requests.errorsPerSecond),
    ],
  };
}

const rejectionChart: ChartPlan = {
  title: "Rejections by rule",
  format: perSecond,
  curves: rules.map(([rule, name, tone]) =>
    curve(name, tone, (sample) => sample.rules?.[rule] ?? 0),
  ),
};

function latencyChart(service: string): ChartPlan {
  return {
    title: service === "" ? "Latency" : `Latency of ${service}`,
    format: milliseconds,
    curves: [
      curve("median", "accent", (sample) => latency(sample, service, "p50")),
      curve("90 %", "soft", (sample) => latency(sample, service, "p90")),
      curve("99 %", "warn", (sample) => latency(sample, service, "p99")),
    ],
  };
}

const storeCharts: readonly ChartPlan[] = [
  {
    title: "Commits and flushes",
    format: perSecond,
    curves: [
      curve("transactions", "accent", ({ store }) => store.perSecond),
      curve("flushes", "soft", ({ store }) => store.flushesPerSecond),
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
    title: "Stored bytes",
    format: bytes,
    curves: [
      curve("records", "accent", ({ store }) => store.bytes),
      curve("content", "soft", ({ content }) => content.bytes),
      curve("live content", "warn", ({ content }) => content.liveBytes),
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
