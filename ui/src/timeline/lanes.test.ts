import { describe, expect, it } from "vitest";
import type { HoldSpan, RecordedEvent, Recording } from "../admin/recording.ts";
import { arrowsOf, lanesOf, objectsOf, recordingOf } from "./lanes.ts";

const at = (seconds: number): string => new Date(seconds * 1000).toISOString();

function event(seconds: number, more: Partial<RecordedEvent>): RecordedEvent {
  return {
    at: at(seconds),
    what: "write",
    service: "blob",
    account: "a",
    container: "c",
    path: "p",
    caller: { kind: "key", address: "10.0.0.1", agent: "azsdk-js/12" },
    ...more,
  };
}

const other = { kind: "key", address: "10.0.0.2", agent: "python/3" };
const span: HoldSpan = {
  kind: "open",
  service: "file",
  account: "a",
  container: "s",
  path: "f",
  client: "10.0.0.9:1",
  what: "open for Read",
  from: at(10),
};

function recording(events: readonly RecordedEvent[], spans: readonly HoldSpan[] = []): Recording {
  return {
    format: "etagere-recording",
    version: 1,
    server: "0",
    from: at(0),
    to: at(100),
    recordedSince: at(0),
    events,
    spans,
    waits: [],
  };
}

const all = { from: 0, to: 100_000 };

describe("lanes", () => {
  it("have the requests and holds of one client each", () => {
    const lanes = lanesOf(
      recording([event(1, {}), event(2, {}), event(3, { caller: other })], [span]),
      all,
    );
    expect(lanes.map(({ client, marks, bars }) => [client, marks.length, bars.length])).toEqual([
      ["10.0.0.1 azsdk-js", 2, 0],
      ["10.0.0.2 python", 1, 0],
      ["10.0.0.9:1", 0, 1],
    ]);
    expect(lanes[2]?.bars[0]).toMatchObject({ from: 10_000, to: 100_000, isOpen: true });
  });

  it("leave out what is outside the period", () => {
    const ended = { ...span, to: at(20) };
    expect(lanesOf(recording([event(1, {})], [ended]), { from: 30_000, to: 60_000 })).toEqual([]);
  });

  it("show leases from acquisition to release, renewed, or expired", () => {
    const lease = (seconds: number, action: string, more: Partial<RecordedEvent> = {}) =>
      event(seconds, { what: "lease", action, id: "one", durationSeconds: 15, ...more });
    const barsOf = (...events: readonly RecordedEvent[]): unknown =>
      lanesOf(recording(events), all)[0]?.bars.map(({ from, to }) => [from / 1000, to / 1000]);
    expect(barsOf(lease(10, "acquire"), lease(12, "release"))).toEqual([[10, 12]]);
    expect(barsOf(lease(10, "acquire"))).toEqual([[10, 25]]);
    expect(barsOf(lease(10, "acquire"), lease(20, "renew"))).toEqual([[10, 35]]);
    expect(barsOf(lease(10, "acquire", { durationSeconds: -1 }))).toEqual([[10, 100]]);
    const broken = (more: Partial<RecordedEvent>) =>
      barsOf(lease(10, "acquire"), event(12, { what: "lease", action: "break", ...more }));
    expect(broken({ secondsLeft: 0 })).toEqual([[10, 12]]);
    expect(broken({ secondsLeft: 5 })).toEqual([[10, 17]]);
    expect(broken({ secondsLeft: 0, path: "other" })).toEqual([[10, 25]]);
  });

  it("put overlapping holds into different rows", () => {
    const later = { ...span, from: at(20), what: "another" };
    const [lane] = lanesOf(recording([], [span, later]), all);
    expect(lane?.bars.map(({ row }) => row)).toEqual([0, 1]);
    expect(lane?.rows).toBe(2);
  });
});

describe("arrows", () => {
  it("lead from a rejected request to the write that made its ETag stale", () => {
    const condition = { header: "If-Match", expected: ["1"], actual: "2" };
    const lanes = lanesOf(
      recording([
        event(1, { etag: "1" }),
        event(2, { etag: "2", caller: other }),
        event(3, { what: "refused", condition }),
        event(4, { what: "refused", condition, path: "another" }),
      ]),
      all,
    );
    expect(arrowsOf(lanes)).toEqual([{ from: { lane: 0, at: 3000 }, to: { lane: 1, at: 2000 } }]);
  });
});

describe("objects of a recording", () => {
  it("are listed, those with rejected requests first, and chosen", () => {
    const whole = recording([
      event(1, {}),
      event(2, {}),
      event(3, { path: "q", what: "refused", rule: "condition" }),
    ]);
    const objects = objectsOf(whole);
    expect(objects.map(({ words, count }) => [words, count])).toEqual([
      ["a/c/q", 1],
      ["a/c/p", 2],
    ]);
    expect(recordingOf(whole, objects[1]?.key ?? "").events).toHaveLength(2);
  });
});
