import { describe, expect, it } from "vitest";
import { manualClock } from "../manual-clock.ts";
import { CommitPace, quickCommitsWanted, quickTicksMax, writeTicksMax } from "./commit-pace.ts";

describe("the pace of commits", () => {
  it("is quick until one commit is slow, and again after enough quick ones", () => {
    const clock = manualClock();
    const pace = new CommitPace(clock);
    expect(pace.isQuick).toBe(true);
    pace.end(pace.begin() - quickTicksMax - 1n, 0);
    expect(pace.isQuick).toBe(false);
    for (let left = quickCommitsWanted; left > 1; left -= 1) pace.end(pace.begin(), 0);
    expect(pace.isQuick).toBe(false);
    pace.end(pace.begin(), 0);
    expect(pace.isQuick).toBe(true);
  });

  it("grants a large batch more time", () => {
    const pace = new CommitPace(manualClock());
    pace.end(pace.begin() - quickTicksMax - 100n * writeTicksMax, 100);
    expect(pace.isQuick).toBe(true);
    pace.end(pace.begin() - quickTicksMax - 100n * writeTicksMax, 99);
    expect(pace.isQuick).toBe(false);
  });
});
