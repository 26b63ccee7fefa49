import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  compareKeys,
  decodeKey,
  encodeKey,
  encodeTaggedKey,
  keyBytesMax,
  prefixBounds,
  stringPrefixBounds,
  successor,
  type KeyBounds,
  type KeyPart,
} from "./keys.ts";

const anyString = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: fc.constantFrom("\u0000", "\u0001", "a", "b", "\ud800", "é"), maxLength: 6 }),
  fc.string({ unit: "grapheme", minLength: 20, maxLength: 60 }),
);
const anyPart: fc.Arbitrary<KeyPart> = fc.oneof(
  anyString,
  fc.maxSafeNat(),
  fc.nat(300),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.bigInt({ min: 0n, max: 300n }),
  fc.uint8Array({ maxLength: 8 }),
  fc.array(fc.constantFrom(0, 1, 2, 255), { maxLength: 4 }).map((list) => Uint8Array.from(list)),
);
const anyTuple = fc.array(anyPart, { maxLength: 4 });

const kindOrder = (part: KeyPart): number =>
  part instanceof Uint8Array ? 0 : ["string", "number", "bigint"].indexOf(typeof part) + 1;

/** Compares by code point: that is the order of UTF-8, and lone surrogates are compared as well. */
const points = (text: string): number[] => Array.from(text, (unit) => unit.codePointAt(0) ?? 0);

function compareLists(left: ArrayLike<number>, right: ArrayLike<number>): number {
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function compareParts(left: KeyPart, right: KeyPart): number {
  const kinds = kindOrder(left) - kindOrder(right);
  if (kinds !== 0) return kinds;
  if (left instanceof Uint8Array) return compareLists(left, right as Uint8Array);
  if (typeof left === "string") return compareLists(points(left), points(right as string));
  const other = right as number | bigint;
  return left < other ? -1 : left > other ? 1 : 0;
}

function compareTuples(left: readonly KeyPart[], right: readonly KeyPart[]): number {
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareParts(part, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

const inside = (bounds: KeyBounds, key: Uint8Array): boolean =>
  compareKeys(bounds.start, key) <= 0 && compareKeys(key, bounds.end) < 0;

describe("encodeKey", () => {
  it("keeps the order of tuples", () => {
    fc.assert(
      fc.property(anyTuple, anyTuple, (left, right) => {
        const keys = compareKeys(encodeKey(left), encodeKey(right));
        expect(Math.sign(keys)).toBe(Math.sign(compareTuples(left, right)));
      }),
      { numRuns: 2000 },
    );
  });

  it("is inverted by decodeKey", () => {
    fc.assert(
      fc.property(anyTuple, (tuple) => {
        expect(decodeKey(encodeKey(tuple))).toEqual(tuple);
      }),
    );
  });

  it("puts exactly the tuples that begin with the parts into their bounds", () => {
    fc.assert(
      fc.property(anyTuple, anyTuple, anyTuple, (prefix, rest, other) => {
        const bounds = prefixBounds(encodeKey(prefix));
        expect(inside(bounds, encodeKey([...prefix, ...rest]))).toBe(true);
        const begins = compareTuples(other.slice(0, prefix.length), prefix) === 0;
        expect(inside(bounds, encodeKey(other))).toBe(begins);
      }),
      { numRuns: 1000 },
    );
  });

  it("puts exactly the strings with a prefix into its bounds", () => {
    const text = fc.string({ unit: fc.constantFrom("\u0000", "\u0001", "a", "b", "é", "𝄞") });
    fc.assert(
      fc.property(anyTuple, text, text, anyTuple, (parts, prefix, name, rest) => {
        const bounds = stringPrefixBounds(7, parts, prefix);
        expect(inside(bounds, encodeTaggedKey(7, [...parts, prefix + name, ...rest]))).toBe(true);
        expect(inside(bounds, encodeTaggedKey(7, [...parts, name]))).toBe(name.startsWith(prefix));
        expect(inside(bounds, encodeTaggedKey(7, [...parts, 5]))).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it("accepts the longest names and rejects longer keys", () => {
    expect(encodeKey([1, "€".repeat(1024), 2n ** 64n - 1n]).length).toBeLessThan(keyBytesMax);
    expect(() => encodeKey(["€".repeat(1500)])).toThrow(RangeError);
    expect(() => encodeKey([new Uint8Array(5000)])).toThrow(RangeError);
    expect(() => encodeKey([-1])).toThrow(RangeError);
    expect(() => encodeKey([2n ** 64n])).toThrow(RangeError);
  });

  it("computes the successor of a key", () => {
    const key = encodeKey(["a"]);
    expect(compareKeys(successor(key), key)).toBeGreaterThan(0);
    expect(compareKeys(successor(key), encodeKey(["a", 0]))).toBeLessThan(0);
  });
});
