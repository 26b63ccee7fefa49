import { expect, it } from "vitest";
import { formatDeletedVersion, parseDeletedVersion } from "./deleted-version.ts";
import { ticksMax } from "../base/ticks.ts";

it.each([638_396_640_000_000_000n, ticksMax])("formats and parses %s", (deletedAt) => {
  expect(parseDeletedVersion(formatDeletedVersion(deletedAt))).toBe(deletedAt);
});

it.each(["", "1", "01D746BFF6C0BF6G", "FFFFFFFFFFFFFFFF", formatDeletedVersion(ticksMax + 1n)])(
  "rejects %j",
  (text) => {
    expect(parseDeletedVersion(text)).toBeUndefined();
  },
);
