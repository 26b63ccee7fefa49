import type { ServiceName } from "../../protocol/names.ts";

/** The counters of a server since its start, summed over all its processes. `/metrics`, the health
 *  page of the explorer and the OpenTelemetry export are made from samples of these counters. */
export interface Figures {
  sample(): Promise<FigureSample>;
}

export interface FigureSample {
  readonly requests: readonly RequestCount[];
  /** Durations of requests in seconds. */
  readonly latencies: ReadonlyMap<ServiceName, BucketSample>;
  /** Committed transactions of the store. */
  readonly transactions: number;
  /** Attempts of transactions that were repeated, because another transaction had changed what they
   *  read. */
  readonly conflicts: number;
  /** Transactions per commit batch. */
  readonly batches: BucketSample;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  /** Bytes that the scrub (a background task) has compared with their checksums, and the number of
   *  slices that differ. */
  readonly scrub?: { readonly bytes: number; readonly problems: number };
  /** Lost lines of the audit log; undefined without one. */
  readonly auditLostLines?: AuditLosses | undefined;
  /** Spans that could not be exported; undefined without traces. */
  readonly lostSpans?: number | undefined;
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  readonly cpuSeconds: number;
  /** Undefined without `--workers`: then the server is one process. */
  readonly workers?: WorkerFigures;
}

/** Lines of the audit log that were dropped, by where they should have gone. */
export type AuditLosses = Readonly<Partial<Record<"file" | "syslog" | "webhook", number>>>;

export interface WorkerFigures {
  readonly processes: readonly WorkerFigure[];
  /** Number of workers that were replaced because they ended unexpectedly. */
  readonly restarts: number;
}

interface WorkerFigure {
  readonly pid: number;
  readonly requests: number;
  readonly residentBytes: number;
}

export interface RequestCount {
  readonly service: ServiceName;
  readonly operation: string;
  readonly status: number;
  readonly count: number;
  /** Sum of the durations, in seconds. */
  readonly seconds: number;
  /** The longest duration, in seconds. */
  readonly secondsMax: number;
}

/** A histogram: the number of observations per upper bound. Those above the last bound are only in
 *  `count`. */
export interface BucketSample {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** Adds up the counts of requests that have the same key. */
export function sumRequests<R extends Omit<RequestCount, "status">>(
  requests: readonly R[],
  keyOf: (each: R) => string,
): ReadonlyMap<string, R> {
  const sums = new Map<string, R>();
  for (const each of requests) {
    const before = sums.get(keyOf(each));
    sums.set(keyOf(each), {
      ...each,
      count: each.count + (before?.count ?? 0),
      seconds: each.seconds + (before?.seconds ?? 0),
      secondsMax: Math.max(each.secondsMax, before?.secondsMax ?? 0),
    });
  }
  return sums;
}

/** The observations that were made between two samples. */
export function since(before: BucketSample | undefined, now: BucketSample): BucketSample {
  if (before === undefined) return now;
  return {
    bounds: now.bounds,
    counts: now.counts.map((count, index) => count - (before.counts[index] ?? 0)),
    count: now.count - before.count,
    sum: now.sum - before.sum,
  };
}

/** The smallest bound that `part` (0 to 1) of the observations does not exceed; undefined without
 *  observations. For counts such as transactions per batch, because `quantile` would return
 *  fractions. */
export function quantileBound(
  { bounds, counts, count }: BucketSample,
  part: number,
): number | undefined {
  if (count === 0) return undefined;
  let passed = 0;
  for (const [index, bound] of bounds.entries()) {
    passed += counts[index] ?? 0;
    if (passed >= part * count) return bound;
  }
  return bounds.at(-1);
}

/** A quantile (`part`: 0 to 1), interpolated between the bounds; undefined without observations. */
export function quantile(
  { bounds, counts, count }: BucketSample,
  part: number,
): number | undefined {
  if (count === 0) return undefined;
  const wanted = part * count;
  let passed = 0;
  let low = 0;
  for (const [index, bound] of bounds.entries()) {
    const here = counts[index] ?? 0;
    if (here > 0 && passed + here >= wanted)
      return low + ((wanted - passed) / here) * (bound - low);
    passed += here;
    low = bound;
  }
  return low;
}
