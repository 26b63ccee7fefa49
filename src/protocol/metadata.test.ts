import { expect, test } from "vitest";
import { parseMetadata } from "./metadata.ts";

type Pairs = readonly (readonly [string, string])[];

function parsed(headers: Pairs): unknown {
  const prefixed = headers.map(([name, value]) => [`X-Ms-Meta-${name}`, value] as const);
  const result = parseMetadata({ headersWith: () => prefixed });
  return result.ok ? result.value : result.fault.code;
}

test.each<[string, Pairs, unknown]>([
  ["none", [], []],
  [
    "order and spelling are kept",
    [
      ["Zeta", "1"],
      ["alpha", " 2 "],
    ],
    [
      ["Zeta", "1"],
      ["alpha", "2"],
    ],
  ],
  ["an empty value", [["a", ""]], [["a", ""]]],
  ["an underscore", [["_a1", "x"]], [["_a1", "x"]]],
  ["an empty name", [["", "x"]], "EmptyMetadataKey"],
  ["a hyphen", [["a-b", "x"]], "InvalidMetadata"],
  ["a digit first", [["1a", "x"]], "InvalidMetadata"],
  ["a sign", [["!", "a"]], "InvalidMetadata"],
  [
    "the same name twice",
    [
      ["a", "x"],
      ["A", "y"],
    ],
    "InvalidMetadata",
  ],
  ["8 KiB", [["a", "x".repeat(8191)]], [["a", "x".repeat(8191)]]],
  ["more than 8 KiB", [["a", "x".repeat(8192)]], "MetadataTooLarge"],
  ["a name that objects know", [["__proto__", "x"]], [["__proto__", "x"]]],
])("%s", (_name, headers, expected) => {
  expect(parsed(headers)).toEqual(expected);
});
