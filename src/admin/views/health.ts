import { formatIso } from "../../base/dates.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Sizes, ViewContext } from "../admin-context.ts";
import { json } from "../admin-response.ts";
import type { Route } from "../routes.ts";
import { contentUse, type ContentUse } from "./content-use.ts";
import { quantile, quantileBound, since, type BucketSample, type FigureSample } from "./figures.ts";

const operationsShownMax = 20;
/** Shortest interval of a rate. Requests within this time after another get the same rates. */
const intervalTicksMin = (ticksPerSecond * 9n) / 10n;
/** How long a sum of the stored bytes is reused, because its cost grows with the number of
 *  extents. */
const useTicksMin = 10n * ticksPerSecond;
const refusals: ReadonlySet<number> = new Set([304, 409, 412]);

export function healthRoutes(health: Health): readonly Route[] {
  const path = "/admin/v1/health";
  const answer = async () => json(await health.measure());
  // The rates include all accounts. The key of one account must not show the load of others.
  return [{ method: "GET", path, access: "server", query: {}, answer }];
}

interface TimedSample {
  readonly at: Ticks;
  readonly sample: FigureSample;
}

/** Computes rates from the counters of two consecutive requests for them: nothing is sampled in
 *  between. */
export class Health {
  readonly #context: ViewContext;
  readonly #startedAt: Ticks;
  #before: Promise<TimedSample>;
  #latest: Promise<TimedSample>;
  #use: { readonly at: Ticks; readonly use: Promise<Use> } | undefined;

  constructor(context: ViewContext) {
    this.#context = context;
    this.#startedAt = context.clock.monotonic();
    this.#latest = this.#now();
    this.#before = this.#latest;
  }

  async measure(): Promise<object> {
    const now = await this.#now();
    const latest = this.#latest;
    const elapsed = now.at - (await latest).at;
    // Unchanged: no concurrent request has begun a new interval.
    if (elapsed >= intervalTicksMin && this.#latest === latest) {
      this.#before = latest;
      this.#latest = Promise.resolve(now);
    }
    const { clock } = this.#context;
    const { storeBytes, contentBytes, ...use } = await this.#contentUse(now.at);
    const before = await this.#before;
    const over = secondsBetween(before.at, now.at);
    const figures = between(before.sample, now.sample, over);
    const { workers } = now.sample;
    return {
      now: formatIso(clock.wall()),
      uptimeSeconds: secondsBetween(this.#startedAt, now.at),
      overSeconds: over,
      ...figures,
      ...(workers === undefined ? {} : { workers }),
      store: { ...figures.store, ...(storeBytes === undefined ? {} : { bytes: storeBytes }) },
      content: {
        ...figures.content,
        ...(contentBytes === undefined ? {} : { bytes: contentBytes }),
        ...use,
      },
    };
  }

  #contentUse(now: Ticks): Promise<Use> {
    if (this.#use === undefined || now - this.#use.at >= useTicksMin) {
      const use = measureUse(this.#context);
      this.#use = { at: now, use };
      // A failure is not cached.
      use.catch(() => (this.#use = undefined));
    }
    return this.#use.use;
  }

  async #now(): Promise<TimedSample> {
    const { clock, figures } = this.#context;
    const sample = await figures.sample();
    return { at: clock.monotonic(), sample };
  }
}

type Use = Sizes & ContentUse;

async function measureUse({ sizes, runtime }: ViewContext): Promise<Use> {
  const [onDisk, inUse] = await Promise.all([sizes(), contentUse(runtime.store)]);
  return { ...onDisk, ...inUse };
}

function between(before: FigureSample, now: FigureSample, over: number) {
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
    store: {
      transactions: now.transactions,
      perSecond: rate(before.transactions, now.transactions),
      conflictsPerSecond: rate(before.conflicts, now.conflicts),
      batch: batchOf(since(before.batches, now.batches)),
    },
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

function servicesBetween(before: FigureSample, now: FigureSample, rate: Rate): object {
  const services: Record<string, object> = {};
  for (const [name, sample] of now.latencies) {
    const earlier = before.latencies.get(name);
    services[name] = {
      total: sample.count,
      perSecond: rate(earlier?.count ?? 0, sample.count),
      latencySeconds: percentiles(since(earlier, sample), quantile, ["p50", "p90", "p99"]),
    };
  }
  return services;
}

const quantiles = { p50: 0.5, p90: 0.9, p99: 0.99 } as const;

function percentiles(
  sample: BucketSample,
  find: typeof quantile,
  wanted: readonly (keyof typeof quantiles)[],
): object {
  const found: Record<string, number> = {};
  for (const name of wanted) {
    const value = find(sample, quantiles[name]);
    if (value !== undefined) found[name] = Number(value.toPrecision(4));
  }
  return found;
}

function batchOf(sample: BucketSample): object {
  const mean = sample.count === 0 ? {} : { mean: round(sample.sum / sample.count) };
  return { ...mean, ...percentiles(sample, quantileBound, ["p50", "p99"]) };
}

function statusesOf({ requests }: FigureSample): object {
  const statuses: Record<string, number> = {};
  for (const { status, count } of requests) statuses[status] = (statuses[status] ?? 0) + count;
  return statuses;
}

function busiest(before: FigureSample, now: FigureSample, rate: Rate): readonly object[] {
  const earlier = byOperation(before);
  return [...byOperation(now)]
    .map(([name, total]) => {
      const [service, operation] = name.split("\n");
      return { service, operation, total, perSecond: rate(earlier.get(name) ?? 0, total) };
    })
    .toSorted((left, right) => right.perSecond - left.perSecond || right.total - left.total)
    .slice(0, operationsShownMax);
}

function byOperation({ requests }: FigureSample): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { service, operation, count } of requests) {
    const name = `${service}\n${operation}`;
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return counts;
}

function secondsBetween(from: Ticks, to: Ticks): number {
  return round(Number(to - from) / Number(ticksPerSecond));
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
