import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import {
  quantile,
  quantileBound,
  since,
  type BucketSample,
  type FigureSample,
  type RequestCount,
  sumRequests,
} from "./figures.ts";

/** Computes the figures of the health page from two samples of the server's counters: rates between
 *  them, percentiles of durations, and the busiest and slowest operations. */

/** How many of the busiest and of the slowest operations the health page shows. */
const operationsShownMax = 20;
const slowOperationsShownMax = 10;
/** Statuses of requests whose conditions, lease or state forbade them. They are no errors of the
 *  server. */
const refusals: ReadonlySet<number> = new Set([304, 409, 412]);

/** The figures of the health page and its history: rates between two samples taken `over` seconds
 *  apart, and totals since the start of the server. */
export function between(before: FigureSample, now: FigureSample, over: number) {
  const rate = (from: number, to: number): number => (over > 0 ? round((to - from) / over) : 0);
  const refused = (status: number): boolean => refusals.has(status);
  const wrong = (status: number): boolean => status >= 500;
  const counted = (sample: FigureSample, wanted: (status: number) => boolean): number =>
    sample.requests.reduce((sum, each) => sum + (wanted(each.status) ? each.count : 0), 0);
  const every = (): boolean => true;
  return {
    requests: {
      total: counted(now, every),
      perSecond: rate(counted(before, every), counted(now, every)),
      refusedPerSecond: rate(counted(before, refused), counted(now, refused)),
      errorsPerSecond: rate(counted(before, wrong), counted(now, wrong)),
    },
    services: servicesBetween(before, now, rate),
    statuses: statusesOf(now),
    operations: busiest(before, now, rate),
    slowOperations: slowest(now),
    store: {
      transactions: now.transactions,
      perSecond: rate(before.transactions, now.transactions),
      flushesPerSecond: rate(before.batches.count, now.batches.count),
      conflictsPerSecond: rate(before.conflicts, now.conflicts),
      batch: batchOf(since(before.batches, now.batches)),
    },
    auditLostLines: now.auditLostLines,
    lostSpans: now.lostSpans,
    content: {
      receivedBytesPerSecond: rate(before.receivedBytes, now.receivedBytes),
      sentBytesPerSecond: rate(before.sentBytes, now.sentBytes),
    },
    process: {
      residentBytes: now.residentBytes,
      heapUsedBytes: now.heapUsedBytes,
      cpuPercent: round(100 * rate(before.cpuSeconds, now.cpuSeconds)),
    },
  };
}

type Rate = (from: number, to: number) => number;

function servicesBetween(before: FigureSample, now: FigureSample, rate: Rate) {
  const services = [...now.latencies].map(([name, sample]) => {
    const earlier = before.latencies.get(name);
    const rates = {
      total: sample.count,
      perSecond: rate(earlier?.count ?? 0, sample.count),
      latencySeconds: percentiles(since(earlier, sample), quantile, ["p50", "p90", "p99"]),
    };
    return [name, rates] as const;
  });
  return Object.fromEntries(services);
}

const quantiles = { p50: 0.5, p90: 0.9, p99: 0.99 } as const;

type Percentiles<N extends keyof typeof quantiles> = { readonly [P in N]?: number };

function percentiles<const N extends keyof typeof quantiles>(
  sample: BucketSample,
  find: typeof quantile,
  wanted: readonly N[],
): Percentiles<N> {
  const found: { [P in N]?: number } = {};
  for (const name of wanted) {
    const value = find(sample, quantiles[name]);
    if (value !== undefined) found[name] = shortened(value);
  }
  return found;
}

function batchOf(sample: BucketSample) {
  const mean = sample.count === 0 ? undefined : round(sample.sum / sample.count);
  return { mean, ...percentiles(sample, quantileBound, ["p50", "p99"]) };
}

function statusesOf({ requests }: FigureSample): object {
  const statuses: Record<string, number> = {};
  for (const { status, count } of requests) statuses[status] = (statuses[status] ?? 0) + count;
  return statuses;
}

function busiest(before: FigureSample, now: FigureSample, rate: Rate) {
  const earlier = byOperation(before);
  return [...byOperation(now)]
    .map(([name, { service, operation, count: total }]) => {
      const perSecond = rate(earlier.get(name)?.count ?? 0, total);
      return { service, operation, total, perSecond };
    })
    .toSorted((left, right) => right.perSecond - left.perSecond || right.total - left.total)
    .slice(0, operationsShownMax);
}

/** The operations with the longest mean duration since the start of the server. */
function slowest(now: FigureSample) {
  return [...byOperation(now).values()]
    .map(({ service, operation, count: total, seconds, secondsMax }) => {
      const meanSeconds = shortened(seconds / total);
      return { service, operation, total, meanSeconds, maxSeconds: shortened(secondsMax) };
    })
    .toSorted((left, right) => right.meanSeconds - left.meanSeconds)
    .slice(0, slowOperationsShownMax);
}

function shortened(value: number): number {
  return Number(value.toPrecision(4));
}

function byOperation({ requests }: FigureSample): ReadonlyMap<string, RequestCount> {
  return sumRequests(requests, ({ service, operation }) => `${service}\n${operation}`);
}

export function secondsBetween(from: Ticks, to: Ticks): number {
  return round(Number(to - from) / Number(ticksPerSecond));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
