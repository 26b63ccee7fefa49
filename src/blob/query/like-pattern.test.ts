import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesLike, parseLike } from "./like-pattern.ts";

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
    const text = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom("a", "b", "%", "_"), maxLength: 6 });
    fc.assert(
      fc.property(pattern, text, (like, value) => {
        const source = like.replaceAll("%", ".*").replaceAll("_", ".");
        expect(matchesLike(parseLike(like, ""), value)).toBe(new RegExp(`^${source}$`).test(value));
      }),
    );
  });

  it("is fast for patterns that are exponential as a regular expression", () => {
    const pattern = parseLike("%a".repeat(30), "");
    expect(matchesLike(pattern, `${"a".repeat(20_000)}b`)).toBe(false);
  });
});
