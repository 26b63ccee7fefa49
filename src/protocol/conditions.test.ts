import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkRead,
  checkWrite,
  checkWriteDates,
  formatETag,
  parseConditions,
  type ConditionHeaders,
  type Conditions,
  type ConditionTarget,
} from "./conditions.ts";
import { formatHttpDate } from "../base/dates.ts";
import { faultStatus } from "./faults.ts";
import type { Result } from "./result.ts";
import { checkSource } from "./source-conditions.ts";
import { ticksFromSeconds } from "../base/ticks.ts";

/** Half a second after a full one, so that a missing truncation shows. */
const etag = 637_000_000_000_000_000n + 5_000_000n;
const target: ConditionTarget = { etag, tags: { coolTag: "true" } };
const own = formatETag(etag);
const other = formatETag(etag + 1n);
const same = formatHttpDate(etag);
const earlier = formatHttpDate(etag - ticksFromSeconds(1));
const later = formatHttpDate(etag + ticksFromSeconds(3600));

type Headers = Readonly<Record<string, string>>;

function parsed(headers: Headers, which: ConditionHeaders = "plain"): Conditions {
  const conditions = parseConditions({ header: (name) => headers[name] }, which);
  if (!conditions.ok) throw new Error(conditions.fault.code);
  return conditions.value;
}

function describeResult(result: Result<unknown> | "not-modified"): string {
  if (result === "not-modified") return "304";
  return result.ok ? "ok" : `${faultStatus(result.fault)} ${result.fault.code}`;
}

const unmet = "412 ConditionNotMet";
const outOfRange = "400 OutOfRangeInput";

describe("the dates of a write whose target has no ETag", () => {
  test.each<[Headers, string]>([
    [{}, "ok"],
    [{ "if-modified-since": earlier }, "ok"],
    [{ "if-modified-since": same }, unmet],
    [{ "if-modified-since": later }, unmet],
    [{ "if-unmodified-since": earlier }, unmet],
    [{ "if-unmodified-since": same }, "ok"],
    [{ "if-unmodified-since": later }, "ok"],
    [{ "if-match": own, "if-modified-since": later }, "ok"],
    [{ "if-none-match": own, "if-unmodified-since": earlier }, "ok"],
  ])("%j: %s", (headers, expected) => {
    expect(describeResult(checkWriteDates(parsed(headers), etag))).toBe(expected);
  });
});
const several = "400 MultipleConditionHeadersNotSupported";

describe("reads", () => {
  const rows: readonly (readonly [Headers, string])[] = [
    [{}, "ok"],
    [{ "if-match": own }, "ok"],
    [{ "if-match": own.replaceAll('"', "") }, "ok"],
    [{ "if-match": `W/${own}` }, unmet],
    [{ "if-match": other }, unmet],
    [{ "if-match": "*" }, "ok"],
    [{ "if-match": `${other}, ${own}` }, "ok"],
    [{ "if-match": '"garbage"' }, unmet],
    [{ "if-none-match": own }, "304"],
    [{ "if-none-match": other }, "ok"],
    [{ "if-none-match": '"garbage"' }, "ok"],
    [{ "if-none-match": `${other},${own}` }, "304"],
    [{ "if-none-match": "*" }, "400 UnsatisfiableCondition"],
    [{ "if-modified-since": earlier }, "ok"],
    [{ "if-modified-since": same }, "304"],
    [{ "if-modified-since": later }, "304"],
    [{ "if-unmodified-since": earlier }, unmet],
    [{ "if-unmodified-since": same }, "ok"],
    [{ "if-unmodified-since": later }, "ok"],
    [{ "if-match": own, "if-none-match": own }, "304"],
    [{ "if-match": other, "if-none-match": own }, unmet],
    [{ "if-match": own, "if-unmodified-since": earlier }, unmet],
    [{ "if-unmodified-since": earlier, "if-none-match": own }, unmet],
    [{ "if-none-match": own, "if-modified-since": earlier }, "ok"],
    [{ "if-none-match": other, "if-modified-since": same }, "ok"],
    [{ "if-none-match": own, "if-modified-since": same }, "304"],
    [{ "if-match": own, "if-modified-since": same }, "304"],
    [{ "x-ms-if-tags": "\"coolTag\" = 'true'" }, "ok"],
    [{ "x-ms-if-tags": "coolTag = 'false'" }, unmet],
    [{ "if-none-match": own, "x-ms-if-tags": "coolTag = 'false'" }, "304"],
    [{ "if-match": "", "if-modified-since": "", "x-ms-if-tags": "" }, "ok"],
  ];
  test.each(rows)("%j", (headers, expected) => {
    expect(describeResult(checkRead(parsed(headers), target))).toBe(expected);
  });

  test("If-Match requires an existing target", () => {
    expect(describeResult(checkRead(parsed({ "if-match": "*" }), undefined))).toBe(unmet);
    expect(describeResult(checkRead(parsed({ "if-none-match": own }), undefined))).toBe("ok");
  });
});

describe("writes", () => {
  /** Outcomes of an update, of a create with an existing target, of a create of a new one. */
  const rows: readonly (readonly [Headers, string, string, string])[] = [
    [{}, "ok", "ok", "ok"],
    [{ "if-match": own }, "ok", "ok", unmet],
    [{ "if-match": other }, unmet, unmet, unmet],
    [{ "if-match": "*" }, "ok", "ok", unmet],
    [{ "if-match": '"garbage"' }, unmet, unmet, unmet],
    [{ "if-none-match": own }, unmet, unmet, "ok"],
    [{ "if-none-match": other }, "ok", "ok", "ok"],
    [{ "if-none-match": '"garbage"' }, "ok", "ok", "ok"],
    [{ "if-none-match": "*" }, unmet, "409 BlobAlreadyExists", "ok"],
    [{ "if-modified-since": earlier }, "ok", "ok", "ok"],
    [{ "if-modified-since": same }, unmet, unmet, "ok"],
    [{ "if-modified-since": later }, unmet, unmet, "ok"],
    [{ "if-unmodified-since": earlier }, unmet, unmet, "ok"],
    [{ "if-unmodified-since": same }, "ok", "ok", "ok"],
    [{ "if-none-match": other, "if-modified-since": later }, "ok", "ok", "ok"],
    [{ "if-none-match": own, "if-modified-since": earlier }, unmet, unmet, "ok"],
    [{ "if-match": own, "if-unmodified-since": earlier }, "ok", "ok", unmet],
    [{ "if-match": other, "if-unmodified-since": later }, unmet, unmet, unmet],
    [{ "if-match": own, "if-none-match": other }, several, several, several],
    [{ "if-match": own, "if-modified-since": earlier }, several, several, several],
    [{ "if-none-match": other, "if-unmodified-since": later }, several, several, several],
    [{ "if-modified-since": earlier, "if-unmodified-since": later }, several, several, several],
    [{ "if-match": `${own}, ${other}` }, several, several, several],
    [{ "if-none-match": `${own}, ${other}` }, several, several, several],
    [{ "x-ms-if-tags": "coolTag = 'true'" }, "ok", "ok", unmet],
    [{ "x-ms-if-tags": "coolTag <> 'true'" }, unmet, unmet, unmet],
    [{ "if-match": own, "x-ms-if-tags": "coolTag = 'false'" }, unmet, unmet, unmet],
  ];
  test.each(rows)("%j", (headers, update, overwrite, create) => {
    const conditions = parsed(headers);
    expect(describeResult(checkWrite(conditions, target, { creates: false }))).toBe(update);
    expect(describeResult(checkWrite(conditions, target, { creates: true }))).toBe(overwrite);
    expect(describeResult(checkWrite(conditions, undefined, { creates: true }))).toBe(create);
  });

  test("a request with the lease id may overwrite despite If-None-Match: *", () => {
    const conditions = parsed({ "if-none-match": "*" });
    expect(
      describeResult(checkWrite(conditions, target, { creates: true, holdsLease: true })),
    ).toBe("ok");
  });

  test("copies have their own codes", () => {
    const copy = { creates: true, failedCode: "TargetConditionNotMet" } as const;
    const fromUrl = { creates: true, notAnETagCode: "TargetConditionNotMet" } as const;
    const stale = parsed({ "if-match": other });
    const garbage = parsed({ "if-match": '"garbage"' });
    expect(describeResult(checkWrite(stale, target, copy))).toBe("412 TargetConditionNotMet");
    expect(describeResult(checkWrite(stale, target, fromUrl))).toBe(unmet);
    expect(describeResult(checkWrite(garbage, target, fromUrl))).toBe("412 TargetConditionNotMet");
    const tags = parsed({ "x-ms-if-tags": "coolTag = 'false'" });
    expect(describeResult(checkWrite(tags, target, copy))).toBe(unmet);
  });

  test.each([
    ['"0x0"', outOfRange],
    ['"0x701CE1722770000"', unmet],
    ['"0x701CE172276FFFF"', outOfRange],
    ['"0x2BCA2875F4373FFF"', unmet],
    ['"0x2BCA2875F4374000"', outOfRange],
    ['"garbage"', unmet],
  ])("an append with If-Match %s, whose values may be no times: %s", (value, expected) => {
    const append = { creates: false, outOfRangeCode: "OutOfRangeInput" } as const;
    const conditions = parsed({ "if-match": value });
    expect(describeResult(checkWrite(conditions, target, append))).toBe(expected);
    expect(describeResult(checkWrite(conditions, target, { creates: false }))).toBe(unmet);
  });

  test("an append whose target has gone fails as with any ETag", () => {
    const append = { creates: false, outOfRangeCode: "OutOfRangeInput" } as const;
    const conditions = parsed({ "if-match": "*" });
    expect(describeResult(checkWrite(conditions, undefined, append))).toBe(unmet);
  });

  test("of many writes with the same ETag exactly one succeeds", () => {
    const writers = fc.integer({ min: 2, max: 20 });
    fc.assert(
      fc.property(writers, (count) => {
        const conditions = parsed({ "if-match": own });
        let current = target;
        let winners = 0;
        for (let writer = 0; writer < count; writer += 1) {
          if (!checkWrite(conditions, current, { creates: false }).ok) continue;
          winners += 1;
          current = { etag: current.etag + 1n };
        }
        expect(winners).toBe(1);
      }),
    );
  });
});

describe("sources", () => {
  const unverified = "412 CannotVerifyCopySource";
  const rows: readonly (readonly [Headers, string, string, string])[] = [
    [{ "if-match": own }, "ok", "ok", "ok"],
    [{ "if-match": other }, "412 SourceConditionNotMet", unverified, unverified],
    [
      { "if-match": '"garbage"' },
      "412 SourceConditionNotMet",
      "412 SourceConditionNotMet",
      unverified,
    ],
    [
      { "if-none-match": own },
      "412 SourceConditionNotMet",
      "304 CannotVerifyCopySource",
      "304 CannotVerifyCopySource",
    ],
    [
      { "if-modified-since": later },
      "412 SourceConditionNotMet",
      "304 CannotVerifyCopySource",
      "304 CannotVerifyCopySource",
    ],
    [{ "if-unmodified-since": earlier }, "412 SourceConditionNotMet", unverified, unverified],
  ];
  test.each(rows)("%j", (plain, copy, blob, range) => {
    const headers = Object.fromEntries(
      Object.entries(plain).map(([name, value]) => [`x-ms-source-${name}`, value]),
    );
    const conditions = parsed(headers, "source");
    expect(describeResult(checkSource(conditions, target, "copy"))).toBe(copy);
    expect(describeResult(checkSource(conditions, target, "blob-from-url"))).toBe(blob);
    expect(describeResult(checkSource(conditions, target, "range-from-url"))).toBe(range);
  });

  test("a failed tag condition of the source has the general code", () => {
    const conditions = parsed({ "x-ms-source-if-tags": "coolTag = 'false'" }, "source");
    expect(describeResult(checkSource(conditions, target, "copy"))).toBe(unmet);
  });
});

test.each([
  [{ "if-modified-since": "yesterday" }, "if-modified-since"],
  [{ "if-unmodified-since": "2021-05-06T10:11:12Z" }, "if-unmodified-since"],
  [{ "x-ms-if-tags": "coolTag =" }, "x-ms-if-tags"],
])("%j is malformed", (headers: Headers, name) => {
  const conditions = parseConditions({ header: (asked) => headers[asked] });
  expect(conditions.ok).toBe(false);
  if (conditions.ok) return;
  expect(conditions.fault.code).toBe("InvalidHeaderValue");
  expect(conditions.fault.detail?.elements?.["HeaderName"]).toBe(name);
});
