import { describe, expect, it } from "vitest";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { CommitLatency, fastTicksMax, writeTicksMax } from "./lmdb-engine.ts";

function commits(latency: CommitLatency, count: number, ticks: bigint, writes = 0): void {
  for (let left = count; left > 0; left -= 1) latency.end(latency.begin() - ticks, writes);
}

describe("the commit latency", () => {
  it("is fast until commits become slow, and again when they become fast", () => {
    const latency = new CommitLatency(manualClock());
    expect(latency.isFast).toBe(true);
    commits(latency, 100, fastTicksMax * 2n);
    expect(latency.isFast).toBe(false);
    commits(latency, 100, fastTicksMax / 2n);
    expect(latency.isFast).toBe(true);
  });

  it("tolerates a single slower commit", () => {
    const latency = new CommitLatency(manualClock());
    commits(latency, 1, fastTicksMax * 4n);
    expect(latency.isFast).toBe(true);
    commits(latency, 1, fastTicksMax * 1000n);
    expect(latency.isFast).toBe(false);
  });

  it("allows a large batch more time", () => {
    const latency = new CommitLatency(manualClock());
    commits(latency, 100, fastTicksMax + 100n * writeTicksMax, 100);
    expect(latency.isFast).toBe(true);
    commits(latency, 100, fastTicksMax + 100n * writeTicksMax, 90);
    expect(latency.isFast).toBe(false);
  });
});
