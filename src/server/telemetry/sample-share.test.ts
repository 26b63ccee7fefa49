import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sampleShare } from "./open-telemetry.ts";

/** The same bytes in every run. */
function seeded(): { bytes: (count: number) => Uint8Array } {
  let drawn = 0;
  return {
    bytes: (count) => {
      drawn += 1;
      return new Uint8Array(
        createHash("sha256").update(`draw ${drawn}`).digest().subarray(0, count),
      );
    },
  };
}

function sampled(share: number, calls: number): number[] {
  const isSampled = sampleShare(share, seeded());
  return Array.from({ length: calls }, (_, index) => index).filter(() => isSampled());
}

describe("sampling a share", () => {
  it.each([
    [0, 0],
    [1, 1000],
  ])("of %d takes %d of 1,000", (share, count) => {
    expect(sampled(share, 1000)).toHaveLength(count);
  });

  // The standard deviation of the counts is below 1.5 % of them.
  it.each([0.01, 0.25, 0.9])("of %d takes about that share", (share) => {
    const calls = Math.round(5000 / share);
    const { length } = sampled(share, calls);
    expect(Math.abs(length / calls - share)).toBeLessThan(0.05 * share);
  });

  it("takes neighbours as often as any others", () => {
    const indices = sampled(0.25, 40_000);
    const neighbours = indices.filter((each, index) => indices[index + 1] === each + 1);
    expect(neighbours.length / indices.length).toBeGreaterThan(0.22);
    expect(neighbours.length / indices.length).toBeLessThan(0.28);
  });
});
