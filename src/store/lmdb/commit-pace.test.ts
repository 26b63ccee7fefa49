import { describe, expect, it } from "vitest";
import { manualClock } from "../manual-clock.ts";
import { CommitPace, quickTicksMax, writeTicksMax } from "./commit-pace.ts";

function commits(pace: CommitPace, count: number, ticks: bigint, writes = 0): void {
  for (let left = count; left > 0; left -= 1) pace.end(pace.begin() - ticks, writes);
}

describe("the pace of commits", () => {
  it("is quick until they are slow, and again when they are quick again", () => {
    const pace = new CommitPace(manualClock());
    expect(pace.isQuick).toBe(true);
    commits(pace, 100, quickTicksMax * 2n);
    expect(pace.isQuick).toBe(false);
    commits(pace, 100, quickTicksMax / 2n);
    expect(pace.isQuick).toBe(true);
  });

  it("does not mind a single one that takes a little longer", () => {
    const pace = new CommitPace(manualClock());
    commits(pace, 1, quickTicksMax * 4n);
    expect(pace.isQuick).toBe(true);
    commits(pace, 1, quickTicksMax * 1000n);
    expect(pace.isQuick).toBe(false);
  });

  it("grants a large batch more time", () => {
    const pace = new CommitPace(manualClock());
    commits(pace, 100, quickTicksMax + 100n * writeTicksMax, 100);
    expect(pace.isQuick).toBe(true);
    commits(pace, 100, quickTicksMax + 100n * writeTicksMax, 90);
    expect(pace.isQuick).toBe(false);
  });
});
