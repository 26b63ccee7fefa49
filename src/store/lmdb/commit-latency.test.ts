import { describe, expect, it } from "vitest";
import { manualClock } from "../manual-clock.ts";
import { CommitLatency, quickTicksMax, writeTicksMax } from "./commit-latency.ts";

function commits(pace: CommitLatency, count: number, ticks: bigint, writes = 0): void {
  for (let left = count; left > 0; left -= 1) pace.end(pace.begin() - ticks, writes);
}

describe("the pace of commits", () => {
  it("is quick until they are slow, and again when they are quick again", () => {
    const pace = new CommitLatency(manualClock());
    expect(pace.isFast).toBe(true);
    commits(pace, 100, quickTicksMax * 2n);
    expect(pace.isFast).toBe(false);
    commits(pace, 100, quickTicksMax / 2n);
    expect(pace.isFast).toBe(true);
  });

  it("does not mind a single one that takes a little longer", () => {
    const pace = new CommitLatency(manualClock());
    commits(pace, 1, quickTicksMax * 4n);
    expect(pace.isFast).toBe(true);
    commits(pace, 1, quickTicksMax * 1000n);
    expect(pace.isFast).toBe(false);
  });

  it("grants a large batch more time", () => {
    const pace = new CommitLatency(manualClock());
    commits(pace, 100, quickTicksMax + 100n * writeTicksMax, 100);
    expect(pace.isFast).toBe(true);
    commits(pace, 100, quickTicksMax + 100n * writeTicksMax, 90);
    expect(pace.isFast).toBe(false);
  });
});
