import { describe, expect, it } from "vitest";
import { manualClock, type ManualClock } from "../../../tests/harness/manual-clock.ts";
import { ticksPerMillisecond } from "../../base/ticks.ts";
import { DatabaseTime } from "./database-time.ts";

/** The database is ahead of the node's monotonic clock by this. */
const ahead = 7_000n * ticksPerMillisecond;

/** A query with the milliseconds that it and its response were on their way. */
function query(clock: ManualClock, time: DatabaseTime, there: number, back: number, by = ahead) {
  const sentAt = clock.monotonic();
  clock.advance(there);
  const databaseTime = clock.monotonic() + by;
  clock.advance(back);
  time.observe(databaseTime, sentAt);
}

function errorOf({ clockOffset }: DatabaseTime, by = ahead): number {
  return Number(clockOffset - by) / Number(ticksPerMillisecond);
}

describe("the time of the database", () => {
  it("is measured by the first query, whatever it took", () => {
    const [clock, time] = fresh();
    query(clock, time, 10, 30);
    expect(errorOf(time)).toBe(-10);
  });

  it.each([
    { there: 2_000, back: 1 },
    { there: 1, back: 2_000 },
  ])("is not moved by a query of $there ms and a response of $back ms", ({ there, back }) => {
    const [clock, time] = fresh();
    query(clock, time, 1, 1);
    clock.advance(60_000);
    query(clock, time, there, back);
    expect(errorOf(time)).toBe(0);
  });

  it("is measured again by a quicker query", () => {
    const [clock, time] = fresh();
    query(clock, time, 400, 0);
    expect(errorOf(time)).toBe(200);
    query(clock, time, 2, 0);
    expect(errorOf(time)).toBe(1);
  });

  it("is measured again when drift may exceed the error of a slower query", () => {
    const [clock, time] = fresh();
    query(clock, time, 1, 1);
    clock.advance(5_000);
    query(clock, time, 2, 1);
    expect(errorOf(time)).toBe(0);
    clock.advance(20_000);
    query(clock, time, 2, 1);
    expect(errorOf(time)).toBe(0.5);
  });

  it("follows clocks that drift apart", () => {
    const [clock, time] = fresh();
    time.keep(unexpected);
    query(clock, time, 1, 1);
    let by = ahead;
    for (let seconds = 0; seconds < 3_600; seconds += 10) {
      clock.advance(10_000);
      by += 5n * ticksPerMillisecond;
      query(clock, time, 1, 1, by);
      expect(Math.abs(errorOf(time, by))).toBeLessThan(10);
    }
  });

  it.each([3_000, -3_000, 864_000_000])("follows a jump of %d ms at the start", (change) => {
    const [clock, time] = fresh();
    query(clock, time, 1, 1);
    clock.advance(10_000);
    const other = ahead + BigInt(change) * ticksPerMillisecond;
    query(clock, time, 1, 3, other);
    expect(errorOf(time, other)).toBe(-1);
    expect(time.jumps).toBe(1);
  });

  it.each([3_000, -3_000, 864_000_000])("keeps on at a jump of %d ms later", (change) => {
    const [clock, time] = fresh();
    query(clock, time, 1, 1);
    let reports = 0;
    time.keep(() => (reports += 1));
    const other = ahead + BigInt(change) * ticksPerMillisecond;
    for (const wait of [1_000, 1_000, 10_000]) {
      clock.advance(wait);
      query(clock, time, 1, 1, other);
    }
    expect(errorOf(time)).toBe(0);
    expect(reports).toBe(3);
    expect(time.jumps).toBe(0);
  });

  it("does not take a slow query for a jump", () => {
    const [clock, time] = fresh();
    query(clock, time, 1, 1);
    time.keep(unexpected);
    query(clock, time, 4_000, 1);
    query(clock, time, 1, 4_000);
    expect(errorOf(time)).toBe(0);
  });

  it("says by how much the clock of the database has jumped", () => {
    const [clock, time] = fresh();
    query(clock, time, 1, 1);
    let reports = 0;
    time.keep(() => (reports += 1));
    const sentAt = clock.monotonic();
    clock.advance(2);
    const expected = ahead + sentAt + ticksPerMillisecond;
    const jump = 500n * ticksPerMillisecond;
    expect(time.compare(expected, sentAt)).toBe(0n);
    expect(time.compare(expected + jump, sentAt)).toBe(jump);
    expect(time.compare(expected - jump, sentAt)).toBe(-jump);
    expect(reports).toBe(2);
  });
});

function unexpected(): never {
  throw new Error("no clock has jumped");
}

function fresh(): readonly [ManualClock, DatabaseTime] {
  const clock = manualClock();
  return [clock, new DatabaseTime(clock)];
}
