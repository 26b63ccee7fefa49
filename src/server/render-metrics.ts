import type { FigureSample, RequestCount, WorkerFigures } from "../admin/views/figures.ts";
import { renderBuckets } from "./histogram.ts";

/** Prometheus text exposition format 0.0.4. */
export function renderMetrics(sample: FigureSample): string {
  const { requests, latencies, batches, workers } = sample;
  return [
    ...help("etagere_requests_total", "counter", "Requests answered."),
    ...requests.map((each) => `etagere_requests_total{${labelsOf(each)}} ${each.count}`),
    ...help("etagere_request_seconds", "histogram", "Time from request to last byte."),
    ...[...latencies].flatMap(([service, latency]) =>
      renderBuckets("etagere_request_seconds", `service="${service}"`, latency),
    ),
    ...single("etagere_store_transactions_total", "counter", "Commits.", sample.transactions),
    ...single("etagere_store_conflicts_total", "counter", "Failed validations.", sample.conflicts),
    ...help("etagere_store_batch_size", "histogram", "Transactions per commit batch."),
    ...renderBuckets("etagere_store_batch_size", "", batches),
    ...help("etagere_content_bytes_total", "counter", "Bytes into and out of content storage."),
    `etagere_content_bytes_total{direction="received"} ${sample.receivedBytes}`,
    `etagere_content_bytes_total{direction="sent"} ${sample.sentBytes}`,
    ...single("etagere_scrub_bytes_total", "counter", "Bytes verified.", sample.scrub?.bytes ?? 0),
    ...single("etagere_scrub_problems_total", "counter", "Damaged.", sample.scrub?.problems ?? 0),
    ...single("process_cpu_seconds_total", "counter", "CPU time.", sample.cpuSeconds),
    ...single("process_resident_memory_bytes", "gauge", "Memory.", sample.residentBytes),
    ...single("etagere_heap_used_bytes", "gauge", "Heap in use.", sample.heapUsedBytes),
    ...(workers === undefined ? [] : renderWorkers(workers)),
    "",
  ].join("\n");
}

function renderWorkers({ processes, restarts }: WorkerFigures): readonly string[] {
  const labels = (pid: number): string => `{pid="${pid}"}`;
  return [
    ...single("etagere_workers", "gauge", "Worker processes.", processes.length),
    ...single("etagere_worker_restarts_total", "counter", "Failed workers replaced.", restarts),
    ...help("etagere_worker_requests_total", "counter", "Requests answered by a worker."),
    ...processes.map((each) => `etagere_worker_requests_total${labels(each.pid)} ${each.requests}`),
    ...help("etagere_worker_resident_memory_bytes", "gauge", "Memory of a worker."),
    ...processes.map(
      (each) => `etagere_worker_resident_memory_bytes${labels(each.pid)} ${each.residentBytes}`,
    ),
  ];
}

function labelsOf({ service, operation, status }: RequestCount): string {
  return `service="${service}",operation="${operation}",status="${status}"`;
}

function help(name: string, type: string, text: string): readonly string[] {
  return [`# HELP ${name} ${text}`, `# TYPE ${name} ${type}`];
}

function single(name: string, type: string, text: string, value: number): readonly string[] {
  return [...help(name, type, text), `${name} ${value}`];
}
