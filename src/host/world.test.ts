import { describe, expect, it } from "vitest";
import { ticksPerSecond } from "../base/ticks.ts";
import { countSuspendedTime, realClock, realRandom } from "./world.ts";

describe("the monotonic clock", () => {
  it("counts the time a machine was suspended", () => {
    let awake = 100n * ticksPerSecond;
    let uptimeSeconds = 100;
    const monotonic = countSuspendedTime(
      () => awake,
      () => uptimeSeconds,
    );
    expect(monotonic()).toBe(100n * ticksPerSecond);
    awake += 2n * ticksPerSecond;
    uptimeSeconds += 62;
    expect(monotonic()).toBe(162n * ticksPerSecond);
  });

  it("does not go backwards when the uptime does", () => {
    let awake = 100n * ticksPerSecond;
    let uptimeSeconds = 160;
    const monotonic = countSuspendedTime(
      () => awake,
      () => uptimeSeconds,
    );
    const before = monotonic();
    awake += 2n * ticksPerSecond;
    uptimeSeconds = 5;
    expect(monotonic()).toBe(before + 2n * ticksPerSecond);
  });

  it("ignores the coarse steps of the uptime", () => {
    const monotonic = countSuspendedTime(
      () => 100n * ticksPerSecond,
      () => 100.01,
    );
    expect(monotonic()).toBe(100n * ticksPerSecond);
  });
});

describe("the real world", () => {
  it("has a boot id and plausible times", () => {
    const clock = realClock();
    expect(clock.bootId).not.toBe("");
    expect(realClock().bootId).toBe(clock.bootId);
    // 2024-01-01 and 2100-01-01 in ticks.
    expect(clock.wall()).toBeGreaterThan(638_396_640_000_000_000n);
    expect(clock.wall()).toBeLessThan(662_380_416_000_000_000n);
    const first = clock.monotonic();
    expect(clock.monotonic()).toBeGreaterThanOrEqual(first);
  });

  it("never returns the same random bytes twice, nor a view of its pool", () => {
    const random = realRandom();
    const seen = new Set(
      Array.from({ length: 1000 }, () => Buffer.from(random.bytes(16)).toString("hex")),
    );
    expect(seen.size).toBe(1000);
    expect(random.bytes(16).buffer.byteLength).toBe(16);
    expect(random.bytes(10_000)).toHaveLength(10_000);
  });
});
