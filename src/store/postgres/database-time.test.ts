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

  it.each([
    { change: 3_000, error: -3 },
    { change: -3_000, error: 1 },
  ])("follows a database whose clock differs by $change ms", ({ change, error }) => {
    const [clock, time] = fresh();
    query(clock, time, 1, 1);
    clock.advance(10_000);
    const other = ahead + BigInt(change) * ticksPerMillisecond;
    query(clock, time, 1, 3, other);
    expect(errorOf(time, other)).toBe(error);
  });
});

function fresh(): readonly [ManualClock, DatabaseTime] {
  const clock = manualClock();
  return [clock, new DatabaseTime(clock)];
}
