import { describe, expect, it } from "vitest";
import { simWorld } from "../../tests/harness/sim-world.ts";
import { parseDuration, travellingClock } from "./travelling-clock.ts";

const ticksPerSecond = 10_000_000n;

describe("a travelling clock", () => {
  it("moves wall and monotonic time forward, and keeps the wall time of the machine", () => {
    const { clock } = simWorld(1);
    const travelling = travellingClock(clock);
    const before = [travelling.wall(), travelling.monotonic()];
    travelling.advance(61_000);
    const after = [travelling.wall(), travelling.monotonic()];
    expect(after.map((each, index) => each - (before[index] ?? 0n))).toEqual([
      61n * ticksPerSecond,
      61n * ticksPerSecond,
    ]);
    expect(travelling.machineWall?.()).toBe(clock.wall());
  });

  it("runs timers that become due once, in order, and shortens the others", () => {
    const { clock } = simWorld(1);
    const travelling = travellingClock(clock);
    const fired: string[] = [];
    travelling.after(2000, () => fired.push("2 s"));
    travelling.after(1000, () => {
      fired.push("1 s");
      travelling.after(500, () => fired.push("0.5 s after the first"));
      cancelled();
    });
    const cancelled = travelling.after(1500, () => fired.push("cancelled"));
    travelling.after(70_000, () => fired.push("70 s"));
    travelling.advance(61_000);
    expect(fired).toEqual(["1 s", "2 s"]);
    clock.advance(600);
    expect(fired).toEqual(["1 s", "2 s", "0.5 s after the first"]);
    clock.advance(8300);
    expect(fired).not.toContain("70 s");
    clock.advance(200);
    expect(fired.at(-1)).toBe("70 s");
  });
});

describe("a duration", () => {
  it.each([
    ["61s", 61_000],
    ["250ms", 250],
    ["1.5m", 90_000],
    ["2 h", 7_200_000],
    ["7d", 604_800_000],
    [10, 10],
  ] as const)("%s is %i ms", (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each(["", "61", "s", "-1s", "1w", "1e9d", -1, NaN, Infinity])("%s is rejected", (text) => {
    expect(() => parseDuration(text)).toThrow(/duration: must be milliseconds/);
  });
});
