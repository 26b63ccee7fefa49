import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { doubleQuotes, halveQuotes } from "./records.ts";

describe("quotation marks in a field", () => {
  const long = "x".repeat(5000);
  const unit = fc.constantFrom('"', "a", "é", "😀", "$&", "\u0000");
  const text = fc.string({ unit, maxLength: 30 });

  it.each([
    ["short", ""],
    ["long", long],
  ])("are doubled and halved in a %s text", (_, before) => {
    fc.assert(
      fc.property(text, fc.constantFrom('"', "$", "é", "||"), (end, quote) => {
        const all = before + end;
        const doubled = doubleQuotes(all, quote);
        expect(doubled).toBe(all.split(quote).join(quote + quote));
        expect(halveQuotes(doubled, quote)).toBe(all);
        expect(halveQuotes(all, quote)).toBe(all.split(quote + quote).join(quote));
      }),
    );
  });
});
