import type { BucketSample, FigureSample, RequestCount } from "../admin/views/figures.ts";
import type { Meter, RequestDone } from "../protocol/meter.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { ProcessFigures } from "../host/process.ts";

/** The counters of this process: requests, commits and bytes. `render-metrics.ts` renders a sample
 *  of them for Prometheus, and `telemetry` exports it. */
export interface Metrics extends Meter {
  sample(process: ProcessFigures): FigureSample;
}

/** Upper bounds of the buckets of histograms. Greater values are only in the total count. */
const latencySecondsBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30,
];
const batchSizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Bounds memory in case of a bug: labels come from the operation declarations, so there are always
 *  fewer series of requests. */
const seriesMax = 5000;

export function newMetrics(): Metrics {
  const requests = new Map<string, Mutable<RequestCount>>();
  const latencies = new Map<ServiceName, Histogram>();
  const batches = new Histogram(batchSizeBounds);
  const bytes = { received: 0, sent: 0 };
  const scrub = { bytes: 0, problems: 0 };
  let transactions = 0;
  let conflicts = 0;
  return {
    request(done) {
      const labels = requestLabels(done);
      const series = requests.get(labels);
      if (series !== undefined) addTo(series, done.seconds);
      else if (requests.size < seriesMax) requests.set(labels, newSeries(done));
      let latency = latencies.get(done.service);
      if (latency === undefined) {
        latency = new Histogram(latencySecondsBounds);
        latencies.set(done.service, latency);
      }
      latency.observe(done.seconds);
    },
    commit(batch) {
      batches.observe(batch.transactions);
      transactions += batch.transactions;
      conflicts += batch.conflicts;
    },
    contentBytes(direction, count) {
      bytes[direction] += count;
    },
    scrubbed(count, problems) {
      scrub.bytes += count;
      scrub.problems += problems;
    },
    sample: (figures) => ({
      requests: [...requests.values()].map((series) => ({ ...series })),
      latencies: new Map([...latencies].map(([service, each]) => [service, each.sample()])),
      transactions,
      conflicts,
      batches: batches.sample(),
      receivedBytes: bytes.received,
      sentBytes: bytes.sent,
      scrub: { ...scrub },
      ...figures,
    }),
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function newSeries({ service, operation, status, seconds }: RequestDone): Mutable<RequestCount> {
  return { service, operation, status, count: 1, seconds, secondsMax: seconds };
}

function addTo(series: Mutable<RequestCount>, seconds: number): void {
  series.count += 1;
  series.seconds += seconds;
  if (seconds > series.secondsMax) series.secondsMax = seconds;
}

/** The labels of the requests that are counted together. */
export function requestLabels(of: Pick<RequestDone, "service" | "operation" | "status">): string {
  const { service, operation, status } = of;
  return `service="${service}",operation="${operation}",status="${status}"`;
}

/** Counts observations per bucket; a bucket includes its upper bound. */
class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#count += 1;
    this.#sum += value;
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    if (bucket < bounds.length) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  sample(): BucketSample {
    const counts = [...this.#counts];
    return { bounds: this.#bounds, counts, count: this.#count, sum: this.#sum };
  }
}
