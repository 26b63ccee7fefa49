import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  clipRange,
  parsePageRange,
  parseReadRange,
  parseWriteRange,
  rangeChecksum,
} from "./ranges.ts";

test.each([
  ["bytes=0-", { first: 0 }],
  ["bytes=5-9", { first: 5, last: 9 }],
  ["bytes=5-5", { first: 5, last: 5 }],
  ["bytes=9-5", undefined],
  ["bytes=-5", undefined],
  ["bytes=0-1,3-4", undefined],
  ["bytes=a-b", undefined],
  ["bytes 0-1", undefined],
  ["bytes=", undefined],
  ["", undefined],
  ["bytes=0-9223372036854775807", { first: 0, last: Number(9_223_372_036_854_775_807n) }],
])("%j for reading", (text, expected) => {
  expect(parseReadRange(text)).toEqual(expected);
});

describe("clipping", () => {
  test.each([
    [{ first: 0 }, 0, undefined],
    [{ first: 0, last: 0 }, 0, undefined],
    [{ first: 10 }, 10, undefined],
    [{ first: 9 }, 10, { from: 9, length: 1 }],
    [{ first: 2, last: 4 }, 10, { from: 2, length: 3 }],
    [{ first: 2, last: 400 }, 10, { from: 2, length: 8 }],
  ])("%j of %d bytes", (range, length, expected) => {
    expect(clipRange(range, length)).toEqual(expected);
  });

  test("stays inside the resource and is not empty", () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.option(fc.nat(), { nil: undefined }),
        fc.nat(),
        (first, more, size) => {
          const range = more === undefined ? { first } : { first, last: first + more };
          const span = clipRange(range, size);
          if (span === undefined) return first >= size;
          return span.length > 0 && span.from === first && span.from + span.length <= size;
        },
      ),
    );
  });
});

test.each([
  ["bytes=0-511", { from: 0, length: 512 }, { from: 0, length: 512 }],
  ["bytes=512-1535", { from: 512, length: 1024 }, { from: 512, length: 1024 }],
  ["bytes=0-510", { from: 0, length: 511 }, "InvalidHeaderValue"],
  ["bytes=1-512", { from: 1, length: 512 }, "InvalidHeaderValue"],
  ["bytes=0-", "InvalidHeaderValue", "InvalidHeaderValue"],
  ["bytes=5-4", "InvalidHeaderValue", "InvalidHeaderValue"],
  ["bytes=0-9223372036854775807", "InvalidHeaderValue", "InvalidHeaderValue"],
  ["garbage", "InvalidHeaderValue", "InvalidHeaderValue"],
])("%j for writing", (text, bytes, pages) => {
  const written = parseWriteRange("x-ms-range", text);
  expect(written.ok ? written.value : written.fault.code).toEqual(bytes);
  const page = parsePageRange("x-ms-range", text);
  expect(page.ok ? page.value : page.fault.code).toEqual(pages);
});

describe("checksum of a range", () => {
  test.each([
    [undefined, undefined, undefined],
    ["true", undefined, "md5"],
    ["true", "false", "md5"],
    [undefined, "true", "crc64"],
    ["false", "true", "crc64"],
    ["false", "false", undefined],
    ["true", "true", "BothCrc64AndMd5RangeHeaderPresent"],
    ["yes", undefined, "InvalidHeaderValue"],
    [undefined, "yes", "InvalidHeaderValue"],
  ])("MD5 %s and CRC64 %s: %s", (md5, crc64, expected) => {
    const read = rangeChecksum.parse({
      version: "2023-11-03",
      header: (name) => (name.endsWith("md5") ? md5 : crc64),
      query: () => undefined,
      headersWith: () => [],
    });
    expect(read.ok ? read.value : read.fault.code).toBe(expected);
  });
});
