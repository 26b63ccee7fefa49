import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { emptyResource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { describe, expect, it } from "vitest";
import { realRandom } from "../../host/world.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { RecordedSpan } from "./recorded-span.ts";

/** The wall clock of `manualClock` when it is made, in seconds since 1970. */
const startSeconds = 1_700_000_000;

function recorder(limits = { attributesMax: 128, valueUnitsMax: Infinity }) {
  const clock = manualClock();
  const ended: ReadableSpan[] = [];
  const onEnd = (span: ReadableSpan): void => void ended.push(span);
  const random = realRandom();
  return { clock, random, resource: emptyResource(), limits, onEnd, ended };
}

describe("a recorded span", () => {
  it("has the ids of its trace, and one of its own", () => {
    const client = { traceId: "a".repeat(32), spanId: "b".repeat(16), traceFlags: 1 };
    const request = new RecordedSpan(recorder(), "GET", SpanKind.SERVER, client);
    const part = request.begin("snapshot") as RecordedSpan;
    expect(request.parentSpanContext).toEqual(client);
    expect(request.spanContext()).toMatchObject({ traceId: client.traceId, traceFlags: 1 });
    expect(part.parentSpanContext).toBe(request.spanContext());
    expect(part.spanContext().traceId).toBe(client.traceId);
    const ids = [client, request.spanContext(), part.spanContext()].map(({ spanId }) => spanId);
    expect(new Set(ids).size).toBe(3);
    expect(request.spanContext().spanId).toMatch(/^[0-9a-f]{16}$/);
    const root = new RecordedSpan(recorder(), "GET", SpanKind.SERVER, undefined);
    expect(root.parentSpanContext).toBeUndefined();
    expect(root.spanContext().traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  it("lasts as long as the monotonic clock says, also if the wall clock is set", () => {
    const given = recorder();
    const request = new RecordedSpan(given, "GET", SpanKind.SERVER, undefined);
    given.clock.advance(250);
    given.clock.jumpWall(-3_600_000);
    const part = request.begin("snapshot") as RecordedSpan;
    given.clock.advance(50);
    part.end();
    request.end();
    expect(request.startTime).toEqual([startSeconds, 0]);
    expect(part.startTime).toEqual([startSeconds, 250_000_000]);
    expect(part.endTime).toEqual([startSeconds, 300_000_000]);
    expect(request.endTime).toEqual(part.endTime);
    expect(request.duration).toEqual([0, 300_000_000]);
  });

  it("shows the attributes that are defined, of all calls", () => {
    const span = new RecordedSpan(recorder(), "GET", SpanKind.SERVER, undefined);
    span.set({ first: 1, second: "a", absent: undefined });
    span.set({ second: "b", third: false });
    expect(span.attributes).toEqual({ first: 1, second: "b", third: false });
    expect(Object.keys(span.attributes)).not.toContain("absent");
  });

  it("limits the number of attributes and the length of their values", () => {
    const limits = { attributesMax: 2, valueUnitsMax: 3 };
    const span = new RecordedSpan(recorder(limits), "GET", SpanKind.SERVER, undefined);
    span.set({ absent: undefined, first: "abcdef", second: 12_345, third: "c" });
    expect(span.attributes).toEqual({ first: "abc", second: 12_345 });
    expect(span.droppedAttributesCount).toBe(1);
  });

  it("is exported once, with the error that ended it", () => {
    const given = recorder();
    const span = new RecordedSpan(given, "PUT", SpanKind.SERVER, undefined);
    span.end(new TypeError("not sent"));
    span.end();
    expect(given.ended).toEqual([span]);
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: "not sent" });
    expect(span.attributes).toEqual({ "error.type": "TypeError" });
  });
});
