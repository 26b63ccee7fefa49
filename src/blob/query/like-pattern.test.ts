import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesLike, parseLike, TooManyLikeSteps } from "./like-pattern.ts";

describe("LIKE", () => {
  it.each([
    ["abc", "abc", true],
    ["abc", "ab", false],
    ["a%", "abc", true],
    ["%c", "abc", true],
    ["a_c", "abc", true],
    ["a_c", "ac", false],
    ["%b%", "abc", true],
    ["%", "", true],
    ["_", "", false],
    ["a%b%c", "aXbYbZc", true],
    [".", "x", false],
    ["😀_", "😀x", true],
  ])("%j matches %j: %s", (pattern, text, expected) => {
    expect(matchesLike(parseLike(pattern, ""), text)).toBe(expected);
  });

  it("matches escaped characters literally", () => {
    expect(matchesLike(parseLike("100!%", "!"), "100%")).toBe(true);
    expect(matchesLike(parseLike("100!%", "!"), "1000")).toBe(false);
  });

  it("gives the same results as a regular expression", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "😀"), maxLength: 40 });
    const run = fc.string({ unit: fc.constantFrom("a", "b", "😀", "_"), maxLength: 3 });
    const literal = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 9, maxLength: 12 });
    const pattern = fc
      .array(fc.oneof(run, literal, fc.constant("%")), { maxLength: 6 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(pattern, text, (like, value) => {
        const source = like.replaceAll("%", ".*").replaceAll("_", ".");
        const expected = new RegExp(`^${source}$`, "u").test(value);
        expect(matchesLike(parseLike(like, ""), value)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("is fast for patterns that are exponential as a regular expression", () => {
    const pattern = parseLike("%a".repeat(30), "");
    expect(matchesLike(pattern, `${"a".repeat(20_000)}b`)).toBe(false);
  });

  it("takes time in proportion to the text for a long literal", () => {
    // With a comparison at every offset: 10,000,000,000 steps.
    const pattern = parseLike(`%${"a".repeat(10_000)}b%`, "");
    expect(matchesLike(pattern, "a".repeat(1_000_000))).toBe(false);
    expect(matchesLike(pattern, `${"a".repeat(1_000_000)}b`)).toBe(true);
  });

  it("gives up a search for any characters that would take too long", () => {
    const pattern = parseLike(`%_${"a".repeat(10_000)}b%`, "");
    expect(() => matchesLike(pattern, "a".repeat(1_000_000))).toThrow(TooManyLikeSteps);
  });
});
