import { describe, expect, it } from "vitest";
import { ticksPerSecond } from "../../src/base/ticks.ts";
import { simWorld } from "./sim-world.ts";

describe("the simulated world", () => {
  it("gives the same ids for the same seed and others for another", () => {
    const ids = (seed: number) => Buffer.from(simWorld(seed).random.bytes(16)).toString("hex");
    expect(ids(1)).toBe(ids(1));
    expect(ids(1)).not.toBe(ids(2));
  });

  it("runs timers in order at their own time, also those that timers start", () => {
    const { clock } = simWorld(1);
    const start = clock.monotonic();
    const fired: [string, bigint][] = [];
    const note = (name: string) => () => fired.push([name, clock.monotonic() - start]);
    clock.after(2000, note("second"));
    clock.after(1000, () => {
      note("first")();
      clock.after(500, note("nested"));
    });
    const cancel = clock.after(1500, note("cancelled"));
    cancel();
    clock.advance(1999);
    expect(fired.map(([name]) => name)).toEqual(["first", "nested"]);
    clock.advance(1);
    expect(fired.at(-1)).toEqual(["second", 2n * ticksPerSecond]);
  });

  it("lets the wall jump without moving monotonic time", () => {
    const { clock } = simWorld(1);
    const before = clock.monotonic();
    clock.jumpWall(-3_600_000);
    expect(clock.monotonic()).toBe(before);
  });

  it("runs a periodic timer once if time is skipped", () => {
    const { clock } = simWorld(1);
    let runs = 0;
    const again = (): void => {
      runs += 1;
      clock.after(50, again);
    };
    again();
    clock.skip(1000);
    expect(runs).toBe(2);
    clock.advance(100);
    expect(runs).toBe(4);
  });

  it("rejects a timer that starts itself without end", () => {
    const { clock } = simWorld(1);
    const again = (): void => void clock.after(0, again);
    again();
    expect(() => clock.advance(1)).toThrow(/timers fell due/);
  });
});
