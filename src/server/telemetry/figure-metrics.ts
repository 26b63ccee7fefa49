import { ValueType, type Attributes, type HrTime } from "@opentelemetry/api";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { BucketSample, FigureSample } from "../../admin/views/figures.ts";

/** The figures of `/metrics` as OpenTelemetry metrics. They are counted anyway, so that exporting
 *  them costs a request nothing. */
export function figureMetrics(sample: () => FigureSample, now: () => HrTime): MetricProducer {
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
    ...base(name, unit),
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    dataPoints: points.map((point) => ({ ...point, ...period })),
  });
  const gauge = (name: string, unit: string, value: number): MetricData => ({
    ...base(name, unit),
    dataPointType: DataPointType.GAUGE,
    dataPoints: [{ attributes: {}, value, ...period }],
  });
  const histogram = (
    name: string,
    unit: string,
    points: readonly Point<BucketSample>[],
  ): MetricData => ({
    ...base(name, unit),
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

function base(name: string, unit: string) {
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

/** Adds the observations above the last bound as a bucket of their own. */
function histogramOf({ bounds, counts, count, sum }: BucketSample) {
  const beyond = counts.reduce((rest, each) => rest - each, count);
  return { buckets: { boundaries: [...bounds], counts: [...counts, beyond] }, count, sum };
}
