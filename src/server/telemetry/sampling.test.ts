import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import { readSampling, sampleShare } from "./sampling.ts";

/** The same bytes in every run, other ones for each seed. */
function seeded(seed = 0): { bytes: (count: number) => Uint8Array } {
  let drawn = seed;
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

describe("the sampler of the environment", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const child = (traceFlags: number) => ({ traceId, spanId: "b7ad6b7169203331", traceFlags });
  afterEach(() => vi.unstubAllEnvs());

  function read(sampler: string, argument = "") {
    vi.stubEnv("OTEL_TRACES_SAMPLER", sampler);
    vi.stubEnv("OTEL_TRACES_SAMPLER_ARG", argument);
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
    const { isRootSampled, isChildSampled } = readSampling(seeded(), log);
    const decided = [isRootSampled(), isChildSampled(child(1)), isChildSampled(child(0))];
    return { decided, warnings };
  }

  it.each([
    ["", "", [true, true, false]],
    ["always_on", "", [true, true, true]],
    ["always_off", "", [false, false, false]],
    ["parentbased_always_on", "", [true, true, false]],
    ["parentbased_always_off", "", [false, true, false]],
    ["traceidratio", "0", [false, false, false]],
    ["traceidratio", "1", [true, true, true]],
    ["parentbased_traceidratio", "0", [false, true, false]],
  ])(
    "%s %s decides about a root, a sampled child and another one",
    (sampler, argument, expected) => {
      expect(read(sampler, argument)).toEqual({ decided: expected, warnings: [] });
    },
  );

  it.each([
    ["parentbased_jaeger_remote", "", false, "OTEL_TRACES_SAMPLER is unknown"],
    ["traceidratio", "", true, "OTEL_TRACES_SAMPLER_ARG must be 0 to 1"],
    ["parentbased_traceidratio", "", false, "OTEL_TRACES_SAMPLER_ARG must be 0 to 1"],
    ["traceidratio", "1.5", true, "OTEL_TRACES_SAMPLER_ARG must be 0 to 1"],
  ])("%s %s is replaced with a warning", (sampler, argument, isEachChild, expected) => {
    const { decided, warnings } = read(sampler, argument);
    expect(decided).toEqual([true, true, isEachChild]);
    expect(warnings).toEqual([expect.stringContaining(expected)]);
  });

  it("of a ratio decides about a child by its trace id alone", () => {
    vi.stubEnv("OTEL_TRACES_SAMPLER", "traceidratio");
    vi.stubEnv("OTEL_TRACES_SAMPLER_ARG", "0.5");
    const ids = Array.from({ length: 400 }, (_, index) =>
      createHash("sha256").update(`trace ${index}`).digest("hex").slice(0, 32),
    );
    const decide = (seed: number, all: readonly string[]) => {
      const { isChildSampled } = readSampling(seeded(seed), silentLog);
      return all.filter((each) => isChildSampled({ ...child(0), traceId: each }));
    };
    const decided = decide(0, ids);
    expect(decide(1000, ids.toReversed())).toEqual(decided.toReversed());
    expect(decided.length).toBeGreaterThan(150);
    expect(decided.length).toBeLessThan(250);
  });
});
