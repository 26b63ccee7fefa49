import { describe, expect, test } from "vitest";
import { checkRead, checkWrite, formatETag, parseConditions, unmodifiedBy } from "./conditions.ts";
import { formatHttpDate } from "../base/dates.ts";
import type { ConditionName } from "./faults.ts";
import { ticksFromSeconds } from "../base/ticks.ts";

const etag = 637_000_000_000_000_000n;
const target = { etag, tags: { colour: "red" } };
const own = formatETag(etag);
const other = formatETag(etag + 1n);
const same = formatHttpDate(etag);
const earlier = formatHttpDate(etag - ticksFromSeconds(1));

type Headers = Readonly<Record<string, string>>;
type Row = readonly [Headers, ConditionName];

function parsed(headers: Headers) {
  const conditions = parseConditions({ header: (name) => headers[name] });
  if (!conditions.ok) throw new Error(conditions.fault.code);
  return conditions.value;
}

describe("the header that a check found unmet", () => {
  const both: readonly Row[] = [
    [{ "if-match": other }, "If-Match"],
    [{ "if-unmodified-since": earlier }, "If-Unmodified-Since"],
    [{ "x-ms-if-tags": "colour = 'blue'" }, "x-ms-if-tags"],
    [{ "if-match": own, "x-ms-if-tags": "colour = 'blue'" }, "x-ms-if-tags"],
  ];
  const reads: readonly Row[] = [
    ...both,
    [{ "if-match": own, "if-unmodified-since": earlier }, "If-Unmodified-Since"],
    [{ "if-none-match": "*" }, "If-None-Match"],
    [{ "if-none-match": own }, "If-None-Match"],
    [{ "if-modified-since": same }, "If-Modified-Since"],
    [{ "if-none-match": own, "if-modified-since": same }, "If-None-Match"],
  ];
  const writes: readonly Row[] = [
    ...both,
    [{ "if-none-match": own }, "If-None-Match"],
    [{ "if-none-match": "*" }, "If-None-Match"],
    [{ "if-modified-since": same }, "If-Modified-Since"],
  ];

  test.each(reads)("of a read with %j is %s", (headers, expected) => {
    const conditions = parsed(headers);
    const verdict = checkRead(conditions, target);
    if (verdict === "not-modified") expect(unmodifiedBy(conditions)).toBe(expected);
    else expect(verdict).toMatchObject({ fault: { detail: { failedCondition: expected } } });
  });

  test.each(writes)("of a write with %j is %s", (headers, expected) => {
    for (const creates of [false, true]) {
      const verdict = checkWrite(parsed(headers), target, { creates });
      expect(verdict).toMatchObject({ fault: { detail: { failedCondition: expected } } });
    }
  });
});
