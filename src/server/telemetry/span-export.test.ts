import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import { expect, it, vi } from "vitest";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import { SpanExport } from "./span-export.ts";

type ExportResult = Parameters<Parameters<SpanExporter["export"]>[1]>[0];
const span = { spanContext: () => ({ traceFlags: 1 }), resource: {} } as unknown as ReadableSpan;
const failed: ExportResult = { code: 1, error: new Error("refused") };

/** An export of batches of two spans, whose receiver answers when the test says so. */
function opened() {
  vi.stubEnv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2");
  vi.stubEnv("OTEL_BSP_MAX_QUEUE_SIZE", "4");
  const clock = manualClock();
  const answers: ((result: ExportResult) => void)[] = [];
  const lines: object[] = [];
  const log = { ...silentLog, error: (fields: object) => void lines.push(fields) };
  const exporter = {
    export: (_: ReadableSpan[], done: (result: ExportResult) => void) => void answers.push(done),
    shutdown: () => Promise.resolve(),
  };
  const target = "http://receiver";
  const spans = new SpanExport({ exporter, target, waitingMax: 4, clock, log });
  vi.unstubAllEnvs();
  const add = (count: number): void => {
    for (let index = 0; index < count; index += 1) spans.add(span);
  };
  return { spans, add, answers, lines, clock };
}

it("counts the spans that a full queue does not take, and reports them once a minute", () => {
  const { spans, add, lines, clock } = opened();
  // Two are being exported, and four wait.
  add(6);
  expect(spans.lost).toBe(0);
  add(3);
  expect(spans.lost).toBe(3);
  clock.advance(60_000);
  add(1);
  const reason = "the receiver is slower than the server";
  expect(lines).toEqual([
    { target: "http://receiver", spans: 1, reason },
    { target: "http://receiver", spans: 3, reason },
  ]);
});

it("counts the spans of a failed export", async () => {
  const { spans, add, answers, lines } = opened();
  add(2);
  answers[0]?.(failed);
  expect(spans.lost).toBe(2);
  expect(lines).toEqual([{ target: "http://receiver", spans: 2, reason: "refused" }]);
  await Promise.resolve();
  add(2);
  answers[1]?.({ code: 0 });
  expect(spans.lost).toBe(2);
});

it("counts what is left when the server stops", () => {
  const { spans, add, lines } = opened();
  add(3);
  spans.reportLeft();
  expect(spans.lost).toBe(3);
  expect(lines).toEqual([
    { target: "http://receiver", spans: 3, reason: "the server has stopped" },
  ]);
});
