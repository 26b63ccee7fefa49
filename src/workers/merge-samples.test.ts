import { expect, it } from "vitest";
import { mergeSamples } from "./merge-samples.ts";
import { newMetrics } from "../server/metrics.ts";
import { renderMetrics } from "../server/render-metrics.ts";

const figures = { residentBytes: 1, heapUsedBytes: 2, cpuSeconds: 3 };

it("adds counters, buckets and gauges of all processes", () => {
  const upload = { service: "blob", operation: "Blob_Upload", status: 201 } as const;
  const [first, second] = [newMetrics(), newMetrics()];
  first.request({ ...upload, seconds: 0.002 });
  first.commit({ transactions: 2, conflicts: 1 });
  second.request({ ...upload, seconds: 0.3 });
  second.request({ ...upload, service: "queue", seconds: 0.3 });
  second.commit({ transactions: 5, conflicts: 0 });
  second.contentBytes("sent", 7);
  const sample = mergeSamples([first.sample(figures), second.sample(figures)]);
  const workers = { restarts: 4, processes: [{ pid: 9, requests: 2, residentBytes: 8 }] };
  expect(renderMetrics({ ...sample, workers }).split("\n")).toEqual(
    expect.arrayContaining([
      'etagere_requests_total{service="blob",operation="Blob_Upload",status="201"} 2',
      'etagere_requests_total{service="queue",operation="Blob_Upload",status="201"} 1',
      'etagere_request_seconds_bucket{service="blob",le="0.0025"} 1',
      'etagere_request_seconds_bucket{service="blob",le="0.5"} 2',
      'etagere_request_seconds_count{service="queue"} 1',
      "etagere_store_transactions_total 7",
      "etagere_store_conflicts_total 1",
      'etagere_store_batch_size_bucket{le="2"} 1',
      "etagere_store_batch_size_count 2",
      'etagere_content_bytes_total{direction="sent"} 7',
      "process_resident_memory_bytes 2",
      "process_cpu_seconds_total 6",
      "etagere_workers 1",
      "etagere_worker_restarts_total 4",
      'etagere_worker_requests_total{pid="9"} 2',
    ]),
  );
});
