import { diag, DiagLogLevel, type HrTime, ValueType, type Attributes } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  emptyResource,
  type Resource,
} from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { FigureSample, BucketSample } from "../../admin/views/figures.ts";
import { ticksPerSecond, unixEpochTicks, type Ticks } from "../../base/ticks.ts";
import { endWithin, type Clock, type Log, type Random } from "../../base/world.ts";
import { readVersion } from "../../host/version.ts";
import { environmentVariable } from "../../host/world.ts";
import type { RequestTracer } from "../../http/http-service.ts";
import type { Telemetry } from "../server-environment.ts";
import { RecentMap } from "../../process/memo.ts";
import { hrTimeOf, type SpanLimits } from "./recorded-span.ts";
import { readSampling } from "./sampling.ts";
import { SpanExport } from "./span-export.ts";
import { traceRequests } from "./trace-requests.ts";

/** Options of `openTelemetry`, which exports traces and metrics to a receiver of OpenTelemetry
 *  (`--otlp`). */
interface TelemetryOptions {
  /** Base URL of the receiver, without `/v1/traces`. */
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: Random;
}

/** A receiver that is down must not delay a rolling restart. */
const closeMillisecondsMax = 2000;
const exportMillisecondsDefault = 60_000;
const instanceBytes = 8;

/** Exports spans and metrics with OTLP over HTTP. Only servers with `--otlp` load this module and
 *  the SDK. The `OTEL_*` variables set sampling, limits, headers and resource attributes. */
export function openTelemetry(options: TelemetryOptions): Telemetry {
  const { url, clock, log, random } = options;
  logProblems(log, clock);
  warnOfProtocol(log);
  const base = url.replace(/(\/v1\/(traces|metrics))?\/*$/, "");
  // A variable with an address for traces or for metrics alone precedes `--otlp`.
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
  const spans = isOn("TRACES")
    ? openSpans(resource, new OTLPTraceExporter(to("traces")), { ...options, url: base })
    : undefined;
  let metrics: MeterProvider | undefined;
  return {
    tracer: spans?.tracer,
    lostSpans: () => spans?.lost(),
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
      const closed = Promise.allSettled([spans?.close(), metrics?.shutdown()]);
      await endWithin(clock, closeMillisecondsMax, closed);
      spans?.reportLeft();
    },
  };
}

interface Spans {
  readonly tracer: RequestTracer;
  readonly lost: () => number;
  readonly close: () => Promise<void>;
  /** Called when `close` has ended or taken too long. */
  readonly reportLeft: () => void;
}

/** Records spans here and lets the SDK batch and export them. */
function openSpans(
  resource: Resource,
  exporter: OTLPTraceExporter,
  { url, clock, random, log }: TelemetryOptions,
): Spans {
  const waitingMax = numberIn("OTEL_BSP_MAX_QUEUE_SIZE", waitingMaxDefault);
  const spans = new SpanExport({ exporter, target: url, waitingMax, clock, log });
  const onEnd = (span: ReadableSpan): void => spans.add(span);
  const recorder = { clock, random, resource, onEnd, limits: readSpanLimits() };
  const tracer = traceRequests(readSampling(random, log), recorder, log);
  return {
    tracer,
    lost: () => spans.lost,
    close: () => spans.shutdown(),
    reportLeft: () => spans.reportLeft(),
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

const waitingMaxDefault = 2048;
const attributesMaxDefault = 128;

function readSpanLimits(): SpanLimits {
  const limit = (name: string, otherwise: number): number =>
    numberIn(`OTEL_SPAN_ATTRIBUTE_${name}`, numberIn(`OTEL_ATTRIBUTE_${name}`, otherwise));
  return {
    attributesMax: limit("COUNT_LIMIT", attributesMaxDefault),
    valueUnitsMax: limit("VALUE_LENGTH_LIMIT", Infinity),
  };
}

function wallTime(clock: Clock): HrTime {
  return hrTimeOf(clock.wall() - unixEpochTicks);
}

const repeatedTicks: Ticks = 60n * ticksPerSecond;

/** The SDK reports failed exports and wrong settings through this logger, an export that fails
 *  always every few seconds: each reason is logged once a minute. */
function logProblems(log: Log, clock: Clock): void {
  const loggedAt = new RecentMap<Ticks>(reasonsMax);
  const warn = (message: string): void => {
    const reason = reasonOf(message);
    const now = clock.monotonic();
    const before = loggedAt.get(reason);
    if (before !== undefined && now - before < repeatedTicks) return;
    loggedAt.set(reason, now);
    log.warn({ reason }, "problem with telemetry");
  };
  const ignore = (): void => {};
  const logger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** Limit of the remembered reasons, which bounds memory. */
const reasonsMax = 100;

/** The SDK renders errors as JSON with their stack. */
function reasonOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === "string" ? message : text;
  } catch {
    return text;
  }
}

/** Warns of protocols with another port than that of HTTP. */
function warnOfProtocol(log: Log): void {
  for (const signal of ["", "_TRACES", "_METRICS"]) {
    const name = `OTEL_EXPORTER_OTLP${signal}_PROTOCOL`;
    const value = environmentVariable(name) || "http/json";
    if (!value.startsWith("http/")) log.warn({ name, value }, "exporting as http/json instead");
  }
}

/** The figures of `/metrics` as OpenTelemetry metrics. They are counted anyway, so that exporting
 *  them costs a request nothing. */
function figureMetrics(sample: () => FigureSample, now: () => HrTime): MetricProducer {
  const startTime = now();
  return {
    async collect() {
      const metrics = metricsOf(sample(), { startTime, endTime: now() });
      const scopeMetrics = [{ scope: { name: "etagere" }, metrics }];
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] };
    },
  };
}

interface Period {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

interface Point<T> {
  readonly attributes: Attributes;
  readonly value: T;
}

function metricsOf(sample: FigureSample, period: Period): MetricData[] {
  const sum = (name: string, unit: string, points: readonly Point<number>[]): MetricData => ({
    ...metricBase(name, unit),
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    dataPoints: points.map((point) => ({ ...point, ...period })),
  });
  const gauge = (name: string, unit: string, value: number): MetricData => ({
    ...metricBase(name, unit),
    dataPointType: DataPointType.GAUGE,
    dataPoints: [{ attributes: {}, value, ...period }],
  });
  const histogram = (
    name: string,
    unit: string,
    points: readonly Point<BucketSample>[],
  ): MetricData => ({
    ...metricBase(name, unit),
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: points.map(({ attributes, value }) => ({
      attributes,
      value: histogramOf(value),
      ...period,
    })),
  });
  const one = (value: number): readonly Point<number>[] => [{ attributes: {}, value }];
  return [
    sum("etagere.requests", "{request}", sample.requests.map(requestPoint)),
    histogram(
      "http.server.request.duration",
      "s",
      [...sample.latencies].map(([service, value]) => ({
        attributes: { "etagere.service": service },
        value,
      })),
    ),
    sum("etagere.store.transactions", "{transaction}", one(sample.transactions)),
    sum("etagere.store.conflicts", "{conflict}", one(sample.conflicts)),
    histogram("etagere.store.batch_size", "{transaction}", [
      { attributes: {}, value: sample.batches },
    ]),
    sum("etagere.content.bytes", "By", [
      { attributes: { direction: "received" }, value: sample.receivedBytes },
      { attributes: { direction: "sent" }, value: sample.sentBytes },
    ]),
    sum("process.cpu.time", "s", one(sample.cpuSeconds)),
    gauge("process.memory.usage", "By", sample.residentBytes),
  ];
}

function metricBase(name: string, unit: string) {
  return {
    descriptor: { name, unit, description: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
}

function requestPoint(each: FigureSample["requests"][number]): Point<number> {
  const attributes = {
    "etagere.service": each.service,
    "etagere.operation": each.operation,
    "http.response.status_code": each.status,
  };
  return { attributes, value: each.count };
}

/** Renders a histogram. Observations above the last bound become a separate bucket. */
function histogramOf({ bounds, counts, count, sum }: BucketSample) {
  const beyond = counts.reduce((rest, each) => rest - each, count);
  return { buckets: { boundaries: [...bounds], counts: [...counts, beyond] }, count, sum };
}
