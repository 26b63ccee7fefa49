import {
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Attributes,
  type HrTime,
  type Link,
  type SpanContext,
  type SpanStatus,
} from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { Span, SpanAttributes } from "../../base/span.ts";
import { ticksPerSecond, unixEpochTicks, type Ticks } from "../../base/ticks.ts";
import type { Clock, Random } from "../../base/world.ts";
import { messageOf } from "../../host/refused.ts";
import { withoutSecrets } from "../../http/diagnosis/secrets.ts";

/** Limits of the attributes of a span, as `OTEL_*_LIMIT` set them. */
export interface SpanLimits {
  readonly attributesMax: number;
  /** Longer texts are cut. */
  readonly valueUnitsMax: number;
}

/** The surroundings of all spans of a server. */
export interface SpanRecorder {
  readonly clock: Clock;
  readonly random: Random;
  readonly resource: Resource;
  readonly limits: SpanLimits;
  /** Receives each span that has ended, for export. */
  readonly onEnd: (span: ReadableSpan) => void;
}

/** The span that another one is a part of: of this process, or of the client (`traceparent`).
 *  Undefined begins a trace. */
type Parent = RecordedSpan | SpanContext | undefined;

const traceIdBytes = 16;
const spanIdBytes = 8;
const nanosecondsPerTick = 100n;
const noItems: never[] = [];
const noStatus: SpanStatus = { code: SpanStatusCode.UNSET };
const scope = { name: "etagere" };

/** A span that the SDK exports. While the request runs it keeps attributes and times as they are;
 *  they get the form of the SDK with the export. With the SDK's own spans, tracing took about twice
 *  as long: more than 2 % of the CPU time of reads if 1 % of them are traced. */
export class RecordedSpan implements Span, ReadableSpan {
  name: string;
  readonly kind: SpanKind;
  status = noStatus;
  links: Link[] = noItems;
  readonly parentSpanContext?: SpanContext;
  readonly #recorder: SpanRecorder;
  /** Wall-clock time minus monotonic time when the trace began: a span lasts as long as the
   *  monotonic clock says, also if the wall clock is set meanwhile. */
  readonly #wallOffset: Ticks;
  readonly #startedAt: Ticks;
  #endedAt: Ticks | undefined;
  #attributes: SpanAttributes | undefined;
  #context: SpanContext | undefined;

  constructor(recorder: SpanRecorder, name: string, kind: SpanKind, parent: Parent) {
    this.#recorder = recorder;
    this.name = name;
    this.kind = kind;
    if (parent !== undefined) this.parentSpanContext = contextOf(parent);
    const { clock } = recorder;
    this.#startedAt = clock.monotonic();
    this.#wallOffset =
      parent instanceof RecordedSpan ? parent.#wallOffset : clock.wall() - this.#startedAt;
  }

  begin(name: string, attributes?: SpanAttributes): Span {
    const span = new RecordedSpan(this.#recorder, name, SpanKind.INTERNAL, this);
    span.#attributes = attributes;
    return span;
  }

  set(attributes: SpanAttributes): void {
    const earlier = this.#attributes;
    this.#attributes = earlier === undefined ? attributes : { ...earlier, ...attributes };
  }

  end(error?: unknown): void {
    if (this.#endedAt !== undefined) return;
    if (error !== undefined) {
      this.set({ "error.type": error instanceof Error ? error.name : "error" });
      this.status = { code: SpanStatusCode.ERROR, message: withoutSecrets(messageOf(error)) };
    }
    this.#endedAt = this.#recorder.clock.monotonic();
    this.#recorder.onEnd(this);
  }

  // The properties and methods that the SDK reads for the export.

  spanContext(): SpanContext {
    if (this.#context !== undefined) return this.#context;
    const { traceId, traceState } = this.parentSpanContext ?? {};
    this.#context = {
      traceId: traceId ?? this.#newId(traceIdBytes),
      spanId: this.#newId(spanIdBytes),
      traceFlags: TraceFlags.SAMPLED,
      ...(traceState && { traceState }),
    };
    return this.#context;
  }

  get attributes(): Attributes {
    const { attributesMax, valueUnitsMax } = this.#recorder.limits;
    const shown: Attributes = {};
    let count = 0;
    // Loops over names, because arrays of entries would double the time of an export.
    for (const name in this.#attributes) {
      const value = this.#attributes[name];
      if (value === undefined) continue;
      count += 1;
      if (count > attributesMax) break;
      const isLong = typeof value === "string" && value.length > valueUnitsMax;
      shown[name] = isLong ? value.slice(0, valueUnitsMax) : value;
    }
    return shown;
  }

  get droppedAttributesCount(): number {
    let count = 0;
    for (const name in this.#attributes) if (this.#attributes[name] !== undefined) count += 1;
    return Math.max(0, count - this.#recorder.limits.attributesMax);
  }

  get startTime(): HrTime {
    return hrTimeOf(this.#startedAt + this.#wallOffset - unixEpochTicks);
  }

  get endTime(): HrTime {
    return hrTimeOf((this.#endedAt ?? this.#startedAt) + this.#wallOffset - unixEpochTicks);
  }

  get duration(): HrTime {
    return hrTimeOf((this.#endedAt ?? this.#startedAt) - this.#startedAt);
  }

  get ended(): boolean {
    return this.#endedAt !== undefined;
  }

  get resource(): Resource {
    return this.#recorder.resource;
  }

  readonly instrumentationScope = scope;
  readonly events = noItems;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;

  #newId(bytes: number): string {
    return Buffer.from(this.#recorder.random.bytes(bytes)).toString("hex");
  }
}

function contextOf(parent: RecordedSpan | SpanContext): SpanContext {
  return parent instanceof RecordedSpan ? parent.spanContext() : parent;
}

/** A time or a duration as the SDK has it: seconds and nanoseconds. */
export function hrTimeOf(ticks: Ticks): HrTime {
  return [Number(ticks / ticksPerSecond), Number((ticks % ticksPerSecond) * nanosecondsPerTick)];
}
