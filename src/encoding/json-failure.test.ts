import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonFailure } from "./json-failure.ts";

it.each([
  ["", 1, 1],
  ["{ broken", 1, 3],
  ['{\n  "a": 1,\n}', 3, 1],
  ['{ "a" 1 }', 1, 7],
  ['{ "a": [1, 2 3] }', 1, 14],
  ['{ "a": "no end\n}', 1, 8],
  ['{ "a": { "b": nul } }', 1, 15],
  ['{ "a": 1 } }', 1, 12],
  ["[1, ]", 1, 5],
  ['{ "a": [1, 2', 1, 13],
  ['["\u007f", "\t"]', 1, 7],
  ["// a comment\n{}", 1, 1],
])("%j stops to be JSON at line %i, column %i", (text, line, column) => {
  expect(() => JSON.parse(text) as unknown).toThrow();
  expect(jsonFailure(text)).toEqual({ line, column });
});

it("reads everything that is JSON to its end", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
      const written = JSON.stringify(JSON.parse(text), undefined, indent);
      const lines = written.split("\n");
      const end = { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
      expect(jsonFailure(written)).toEqual(end);
    }),
  );
});
