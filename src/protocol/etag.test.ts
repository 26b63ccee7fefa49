import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bareETag, formatETag, isETag, nextETag, parseETag, parseETagList } from "./conditions.ts";
import { parseSnapshotTime } from "../base/dates.ts";
import { ticksMax } from "../base/ticks.ts";

const moment = fc.bigInt({ min: 1n, max: ticksMax });

test("an ETag is the time of the change in upper-case hexadecimal", () => {
  const change = parseSnapshotTime("2021-11-08T22:59:24.9068841Z");
  expect(change).toBeDefined();
  expect(formatETag(change ?? 0n)).toBe('"0x8D9A30B68DF4F29"');
});

test("ETags of one record always increase", () => {
  expect(nextETag(5n, 4n)).toBe(5n);
  expect(nextETag(5n, 5n)).toBe(6n);
  expect(nextETag(5n, 9n)).toBe(10n);
  fc.assert(
    fc.property(moment, moment, (now, previous) => {
      const newETag = nextETag(now, previous);
      expect(newETag > previous).toBe(true);
      expect(newETag >= now).toBe(true);
      expect(nextETag(now)).toBe(now);
    }),
  );
});

describe("lists", () => {
  test.each([
    ['"0x1"', ["0x1"]],
    ["0x1", ["0x1"]],
    ["*", "*"],
    [" * ", "*"],
    ['"0x1", "0x2"', ["0x1", "0x2"]],
    ['0x1,"0x2" ,0x3', ["0x1", "0x2", "0x3"]],
    ['"with, comma"', ["with, comma"]],
    ['"0x1", "with, comma"', ["0x1", "with, comma"]],
    ['"0x1",\t"with, comma"', ["0x1", "with, comma"]],
    ['W/"0x1"', ['W/"0x1"']],
    ['"garbage"', ["garbage"]],
    ['""', [""]],
    ["", undefined],
    [" , ", undefined],
  ])("%j", (header, expected) => {
    expect(parseETagList(header)).toEqual(expected);
  });

  test("a list contains every ETag, quoted or not", () => {
    fc.assert(
      fc.property(fc.array(moment, { minLength: 1, maxLength: 5 }), (stamps) => {
        const bare = stamps.map(bareETag);
        expect(parseETagList(stamps.map(formatETag).join(", "))).toEqual(bare);
        expect(parseETagList(bare.join(","))).toEqual(bare);
      }),
    );
  });
});

test("a list has at most 1,000 ETags", () => {
  const names = Array.from({ length: 1_001 }, (_, index) => `0x${index}`);
  expect(parseETagList(names.join())).toEqual(names.slice(0, 1_000));
});

test.each([
  ['"0x10"', 16n],
  ["0x10", 16n],
  ['"garbage"', undefined],
])("the time in %j is %s", (text, expected) => {
  expect(parseETag(text)).toBe(expected);
});

test.each([
  ['"0x8D9A30B68B73CB9"', true],
  ["0x8D9A30B68B73CB9", true],
  ['"garbage"', false],
  ["8D9A30B68B73CB9", false],
  ["", false],
])("%j is an ETag: %s", (text, expected) => {
  expect(isETag(text)).toBe(expected);
});
