import {
  sumRequests,
  type AuditLosses,
  type BucketSample,
  type FigureSample,
  type RequestCount,
} from "../admin/views/figures.ts";
import { requestLabels } from "../server/metrics.ts";

/** Sums the figures of the processes of a server, for `/metrics` and the health page. */

/** Returns the sum of the figures (counters, CPU time, memory) of several processes. */
export function mergeSamples(samples: readonly FigureSample[]): FigureSample {
  const sum = (pick: (sample: FigureSample) => number): number =>
    samples.reduce((total, sample) => total + pick(sample), 0);
  const requests = samples.flatMap((sample) => sample.requests);
  const merged = sumRequests(requests, requestLabels);
  return {
    requests: [...merged.values()],
    latencies: mergeLatencies(samples),
    transactions: sum((sample) => sample.transactions),
    conflicts: sum((sample) => sample.conflicts),
    batches: samples.map(({ batches }) => batches).reduce(mergeBuckets),
    receivedBytes: sum((sample) => sample.receivedBytes),
    sentBytes: sum((sample) => sample.sentBytes),
    scrub: {
      bytes: sum(({ scrub }) => scrub?.bytes ?? 0),
      problems: sum(({ scrub }) => scrub?.problems ?? 0),
    },
    auditLostLines: mergeLosses(samples),
    lostSpans: samples.some(({ lostSpans }) => lostSpans !== undefined)
      ? sum(({ lostSpans = 0 }) => lostSpans)
      : undefined,
    residentBytes: sum((sample) => sample.residentBytes),
    heapUsedBytes: sum((sample) => sample.heapUsedBytes),
    cpuSeconds: sum((sample) => sample.cpuSeconds),
  };
}

function mergeLosses(samples: readonly FigureSample[]): AuditLosses | undefined {
  const merged: Partial<Record<keyof AuditLosses, number>> = {};
  for (const { auditLostLines = {} } of samples) {
    for (const target of ["file", "syslog", "webhook"] as const) {
      const lines = auditLostLines[target];
      if (lines !== undefined) merged[target] = (merged[target] ?? 0) + lines;
    }
  }
  return Object.keys(merged).length === 0 ? undefined : merged;
}

/** The figures that a process leaves when it has ended: its counters, because sums must not
 *  decrease, but not its memory. */
export function endedSample(sample: FigureSample): FigureSample {
  return { ...sample, residentBytes: 0, heapUsedBytes: 0 };
}

/** The number of requests in a sample, over all services and operations. */
export function requestTotal({ requests }: FigureSample): number {
  return requests.reduce((total, { count }) => total + count, 0);
}

function mergeLatencies(samples: readonly FigureSample[]): FigureSample["latencies"] {
  const merged = new Map<RequestCount["service"], BucketSample>();
  for (const [service, latency] of samples.flatMap(({ latencies }) => [...latencies])) {
    const before = merged.get(service);
    merged.set(service, before === undefined ? latency : mergeBuckets(before, latency));
  }
  return merged;
}

/** Adds two histograms. Their bounds are equal, because all workers run the same release. */
function mergeBuckets(left: BucketSample, right: BucketSample): BucketSample {
  return {
    bounds: left.bounds,
    counts: left.counts.map((count, index) => count + (right.counts[index] ?? 0)),
    count: left.count + right.count,
    sum: left.sum + right.sum,
  };
}
