import type { FigureSample, RequestCount } from "../admin/views/figures.ts";
import type { Meter, RequestDone } from "../protocol/meter.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import { Histogram } from "./histogram.ts";

export interface Metrics extends Meter {
  /** Prometheus text exposition format 0.0.4. */
  render(process: ProcessFigures): string;
  sample(process: ProcessFigures): FigureSample;
}

export interface ProcessFigures {
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
  readonly cpuSeconds: number;
}

/** Upper bounds; the unbounded last bucket equals the total count. */
const latencySecondsBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30,
];
const batchSizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** Labels come from declarations, so this is never reached; it bounds memory in case of a bug. */
const seriesMax = 5000;

export function newMetrics(): Metrics {
  const requests = new Map<string, Mutable<RequestCount>>();
  const latencies = new Map<ServiceName, Histogram>();
  const batches = new Histogram(batchSizeBounds);
  const bytes = { received: 0, sent: 0 };
  let transactions = 0;
  let conflicts = 0;
  return {
    request(done) {
      const labels = requestLabels(done);
      const series = requests.get(labels);
      if (series !== undefined) series.count += 1;
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
    sample: (figures) => ({
      requests: [...requests.values()].map((series) => ({ ...series })),
      latencies: new Map([...latencies].map(([service, each]) => [service, each.sample()])),
      transactions,
      conflicts,
      batches: batches.sample(),
      receivedBytes: bytes.received,
      sentBytes: bytes.sent,
      ...figures,
    }),
    render: (figures) =>
      [
        ...help("etagere_requests_total", "counter", "Requests answered."),
        ...[...requests].map(([labels, { count }]) => `etagere_requests_total{${labels}} ${count}`),
        ...help("etagere_request_seconds", "histogram", "Time from request to last byte."),
        ...[...latencies].flatMap(([service, latency]) =>
          latency.render("etagere_request_seconds", `service="${service}"`),
        ),
        ...single("etagere_store_transactions_total", "counter", "Commits.", transactions),
        ...single("etagere_store_conflicts_total", "counter", "Failed validations.", conflicts),
        ...help("etagere_store_batch_size", "histogram", "Transactions per commit batch."),
        ...batches.render("etagere_store_batch_size", ""),
        ...help("etagere_content_bytes_total", "counter", "Bytes into and out of content storage."),
        `etagere_content_bytes_total{direction="received"} ${bytes.received}`,
        `etagere_content_bytes_total{direction="sent"} ${bytes.sent}`,
        ...single("process_cpu_seconds_total", "counter", "CPU time.", figures.cpuSeconds),
        ...single("process_resident_memory_bytes", "gauge", "Memory.", figures.residentBytes),
        ...single("etagere_heap_used_bytes", "gauge", "Heap in use.", figures.heapUsedBytes),
        "",
      ].join("\n"),
  };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function newSeries({ service, operation, status }: RequestDone): Mutable<RequestCount> {
  return { service, operation, status, count: 1 };
}

function requestLabels({ service, operation, status }: RequestDone): string {
  return `service="${service}",operation="${operation}",status="${status}"`;
}

function help(name: string, type: string, text: string): readonly string[] {
  return [`# HELP ${name} ${text}`, `# TYPE ${name} ${type}`];
}

function single(name: string, type: string, text: string, value: number): readonly string[] {
  return [...help(name, type, text), `${name} ${value}`];
}
