import { diag, DiagLogLevel, type HrTime } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { FigureSample } from "../../admin/views/figures.ts";
import { ticksPerSecond, unixEpochTicks } from "../../base/ticks.ts";
import { endWithin, type Clock, type Log, type Random } from "../../base/world.ts";
import { readVersion } from "../../host/version.ts";
import { environmentVariable } from "../../host/world.ts";
import type { RequestTracer } from "../../http/http-service.ts";
import type { Telemetry } from "../server-environment.ts";
import { traceRequests } from "./trace-requests.ts";
import { figureMetrics } from "./figure-metrics.ts";

interface TelemetryOptions {
  /** Base URL of the receiver, without `/v1/traces`. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
}

const closeMillisecondsMax = 5000;
const exportMillisecondsDefault = 60_000;
const instanceBytes = 8;
const nanosecondsPerTick = 100n;

/** Exports spans and metrics with OTLP over HTTP. Only servers with `--otlp` load this module and
 *  the SDK. The `OTEL_*` variables set sampling, limits, headers and resource attributes. */
export function openTelemetry({ url, clock, log, random }: TelemetryOptions): Telemetry {
  logProblems(log);
  const base = url.replace(/\/+$/, "");
  // A variable for one signal precedes the address of all.
  const to = (path: string): { url?: string } => {
    const name = `OTEL_EXPORTER_OTLP_${path.toUpperCase()}_ENDPOINT`;
    return environmentVariable(name) === undefined ? { url: `${base}/v1/${path}` } : {};
  };
  const own = resourceFromAttributes({
    "service.name": "etagere",
    "service.version": readVersion(),
    "service.instance.id": Buffer.from(random.bytes(instanceBytes)).toString("hex"),
  });
  const resource = own.merge(detectResources({ detectors: [envDetector] }));
  const spans = new BasicTracerProvider({
    resource,
    spanProcessors: isOn("TRACES")
      ? [new BatchSpanProcessor(new OTLPTraceExporter(to("traces")))]
      : [],
  });
  const tracer: RequestTracer | undefined = isOn("TRACES")
    ? traceRequests(spans.getTracer("etagere"), log)
    : undefined;
  let metrics: MeterProvider | undefined;
  return {
    tracer,
    exportFigures(sample: () => FigureSample): void {
      if (!isOn("METRICS")) return;
      const reader = new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(to("metrics")),
        exportIntervalMillis: numberIn("OTEL_METRIC_EXPORT_INTERVAL", exportMillisecondsDefault),
        metricProducers: [figureMetrics(sample, () => wallTime(clock))],
      });
      metrics = new MeterProvider({ resource, readers: [reader] });
    },
    async close() {
      const closed = Promise.allSettled([spans.shutdown(), metrics?.shutdown()]);
      await endWithin(clock, closeMillisecondsMax, closed);
    },
  };
}

/** `OTEL_TRACES_EXPORTER=none` and `OTEL_METRICS_EXPORTER=none` disable a signal. */
function isOn(signal: "TRACES" | "METRICS"): boolean {
  return environmentVariable(`OTEL_${signal}_EXPORTER`) !== "none";
}

function numberIn(name: string, otherwise: number): number {
  const value = Number(environmentVariable(name) ?? "");
  return Number.isInteger(value) && value > 0 ? value : otherwise;
}

function wallTime(clock: Clock): HrTime {
  const ticks = clock.wall() - unixEpochTicks;
  const seconds = ticks / ticksPerSecond;
  return [Number(seconds), Number((ticks % ticksPerSecond) * nanosecondsPerTick)];
}

/** The SDK reports failed exports and dropped spans through this logger. */
function logProblems(log: Log): void {
  const warn = (message: string): void => log.warn({ reason: message }, "telemetry not exported");
  const ignore = (): void => {};
  const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
