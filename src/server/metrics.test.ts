import { expect, it } from "vitest";
import { newMetrics } from "./metrics.ts";
import { renderMetrics } from "./render-metrics.ts";

const figures = { residentBytes: 1, heapUsedBytes: 2, cpuSeconds: 3 };

it("counts requests by service, operation and status, and their latencies by bucket", () => {
  const metrics = newMetrics();
  const done = { service: "blob", operation: "Blob_Upload", status: 201 } as const;
  metrics.request({ ...done, seconds: 0.002 });
  metrics.request({ ...done, seconds: 0.3 });
  metrics.request({ ...done, status: 412, seconds: 100 });
  const lines = renderMetrics(metrics.sample(figures)).split("\n");
  expect(lines).toContain(
    'etagere_requests_total{service="blob",operation="Blob_Upload",status="201"} 2',
  );
  expect(lines).toContain(
    'etagere_requests_total{service="blob",operation="Blob_Upload",status="412"} 1',
  );
  expect(lines).toContain('etagere_request_seconds_bucket{service="blob",le="0.001"} 0');
  expect(lines).toContain('etagere_request_seconds_bucket{service="blob",le="0.0025"} 1');
  expect(lines).toContain('etagere_request_seconds_bucket{service="blob",le="0.5"} 2');
  expect(lines).toContain('etagere_request_seconds_bucket{service="blob",le="+Inf"} 3');
  expect(lines).toContain('etagere_request_seconds_sum{service="blob"} 100.302');
});

it("counts commits, conflicts, batches and bytes", () => {
  const metrics = newMetrics();
  metrics.commit({ transactions: 3, conflicts: 1 });
  metrics.commit({ transactions: 5000, conflicts: 0 });
  metrics.contentBytes("sent", 1024);
  const lines = renderMetrics(metrics.sample(figures)).split("\n");
  expect(lines).toContain("etagere_store_transactions_total 5003");
  expect(lines).toContain("etagere_store_conflicts_total 1");
  expect(lines).toContain('etagere_store_batch_size_bucket{le="2"} 0');
  expect(lines).toContain('etagere_store_batch_size_bucket{le="4"} 1');
  expect(lines).toContain('etagere_store_batch_size_bucket{le="1024"} 1');
  expect(lines).toContain("etagere_store_batch_size_count 2");
  expect(lines).toContain('etagere_content_bytes_total{direction="sent"} 1024');
});
