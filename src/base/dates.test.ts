import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatHttpDate,
  formatIso,
  formatIsoSeconds,
  parseHttpDate,
  parseIso,
  parseSnapshotTime,
} from "./dates.ts";
import { ticksFromUnixMilliseconds, ticksMax, ticksPerSecond, truncateToSecond } from "./ticks.ts";

const moment = fc.bigInt({ min: 0n, max: ticksMax });
/** The reference is JavaScript's calendar; four-digit years limit the range. */
const unixMilliseconds = fc.integer({ min: Date.UTC(1000, 0, 1), max: Date.UTC(9999, 11, 31) });

describe("HTTP dates", () => {
  test("agree with an independent calendar", () => {
    fc.assert(
      fc.property(unixMilliseconds, (milliseconds) => {
        const expected = new Date(milliseconds).toUTCString();
        const whole = milliseconds - (((milliseconds % 1000) + 1000) % 1000);
        expect(formatHttpDate(ticksFromUnixMilliseconds(whole))).toBe(expected);
      }),
    );
  });

  test("come back as the same second", () => {
    fc.assert(
      fc.property(moment, (ticks) => {
        expect(parseHttpDate(formatHttpDate(ticks))).toBe(truncateToSecond(ticks));
      }),
    );
  });

  const sunday = ticksFromUnixMilliseconds(Date.UTC(1994, 10, 6, 8, 49, 37));
  test.each([
    ["Sun, 06 Nov 1994 08:49:37 GMT", sunday],
    ["Sunday, 06-Nov-94 08:49:37 GMT", sunday],
    ["Sun Nov  6 08:49:37 1994", sunday],
    ["Mon, 06 Nov 1994 08:49:37 GMT", undefined],
    ["Sun, 6 Nov 1994 08:49:37 GMT", undefined],
    ["Sun, 06 Nov 1994 08:49:37", undefined],
    ["Sun, 06 Nov 1994 24:00:00 GMT", undefined],
    ["Sun, 06 Nov 1994 08:49:37 GMT ", undefined],
    ["Wed, 30 Feb 1994 08:49:37 GMT", undefined],
    ["garbage", undefined],
    ["", undefined],
  ])("%j", (text, expected) => {
    expect(parseHttpDate(text)).toBe(expected);
  });
});

describe("ISO dates", () => {
  test("agree with an independent calendar", () => {
    fc.assert(
      fc.property(unixMilliseconds, (milliseconds) => {
        const expected = new Date(milliseconds).toISOString().replace("Z", "0000Z");
        expect(formatIso(ticksFromUnixMilliseconds(milliseconds))).toBe(expected);
      }),
    );
  });

  test("come back to the tick", () => {
    fc.assert(
      fc.property(moment, (ticks) => {
        expect(parseIso(formatIso(ticks))).toBe(ticks);
        expect(parseSnapshotTime(formatIso(ticks))).toBe(ticks);
        expect(parseIso(formatIsoSeconds(ticks))).toBe(truncateToSecond(ticks));
      }),
    );
  });

  test.each(["1600-02-29", "2000-02-29", "2100-02-28", "2400-02-29", "2400-03-01", "9999-12-31"])(
    "%s is written as it was read",
    (text) => {
      expect(formatIsoSeconds(parseIso(text) ?? 0n)).toBe(`${text}T00:00:00Z`);
    },
  );

  const day = ticksFromUnixMilliseconds(Date.UTC(2021, 4, 6));
  const seconds = (count: number): bigint => day + BigInt(count) * ticksPerSecond;
  test.each([
    ["2021-05-06", day],
    ["2021-05-06T10:11Z", seconds(36_660)],
    ["2021-05-06T10:11:12Z", seconds(36_672)],
    ["2021-05-06T10:11:12.5Z", seconds(36_672) + 5_000_000n],
    ["2021-05-06T10:11:12.1234567Z", seconds(36_672) + 1_234_567n],
    ["2021-05-06T10:11:12+02:00", seconds(29_472)],
    ["2021-05-06T10:11:12-00:30", seconds(38_472)],
    ["2021-05-06T10:11:12", undefined],
    ["2021-05-06T10:11:12.12345678Z", undefined],
    ["2021-02-29T10:11:12Z", undefined],
    ["2020-02-29", ticksFromUnixMilliseconds(Date.UTC(2020, 1, 29))],
    ["1900-02-29", undefined],
    ["2000-02-29", ticksFromUnixMilliseconds(Date.UTC(2000, 1, 29))],
    ["0000-01-01", undefined],
    ["0001-01-01T00:00:00+01:00", undefined],
    ["invalidSnapshot", undefined],
  ])("%j", (text, expected) => {
    expect(parseIso(text)).toBe(expected);
  });

  test("a snapshot name has exactly seven digits", () => {
    expect(parseSnapshotTime("2021-05-06T10:11:12Z")).toBeUndefined();
    expect(parseSnapshotTime("2021-05-06T10:11:12.123456Z")).toBeUndefined();
  });
});
