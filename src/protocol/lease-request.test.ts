import { expect, test } from "vitest";

import { parseLeaseAction, parseLeaseId } from "./lease.ts";
import type { LeaseKind } from "./lease.ts";

const id = "d92e6954-3274-4715-811c-727ca7145303";
const reader = (headers: Readonly<Record<string, string>>) => ({
  header: (name: string) => headers[`x-ms-${name.slice(5)}`],
});

function outcome(headers: Readonly<Record<string, string>>, kind: LeaseKind = "blob"): unknown {
  const parsed = parseLeaseAction(reader(headers), kind);
  if (parsed.ok) return parsed.value;
  return `${parsed.fault.code} ${parsed.fault.detail?.elements?.["HeaderName"]}`;
}

const action = (name: string, more: Readonly<Record<string, string>> = {}) => ({
  "x-ms-lease-action": name,
  ...more,
});
const duration = (seconds: string) => action("acquire", { "x-ms-lease-duration": seconds });
const period = (seconds: string) => action("break", { "x-ms-lease-break-period": seconds });

test.each([
  [{}, "MissingRequiredHeader x-ms-lease-action"],
  [action("take"), "InvalidHeaderValue x-ms-lease-action"],
  [action("acquire"), "MissingRequiredHeader x-ms-lease-duration"],
  [duration("14"), "InvalidHeaderValue x-ms-lease-duration"],
  [duration("15"), { action: "acquire", durationSeconds: 15 }],
  [duration("60"), { action: "acquire", durationSeconds: 60 }],
  [duration("61"), "InvalidHeaderValue x-ms-lease-duration"],
  [duration("0"), "InvalidHeaderValue x-ms-lease-duration"],
  [duration("-1"), { action: "acquire", durationSeconds: -1 }],
  [duration("-2"), "InvalidHeaderValue x-ms-lease-duration"],
  [duration("922337203685"), "InvalidHeaderValue x-ms-lease-duration"],
  [duration("20.5"), "InvalidHeaderValue x-ms-lease-duration"],
  [
    { ...duration("-1"), "x-ms-proposed-lease-id": `{${id.toUpperCase()}}` },
    { action: "acquire", durationSeconds: -1, proposedId: id },
  ],
  [
    { ...duration("-1"), "x-ms-proposed-lease-id": "x" },
    "InvalidHeaderValue x-ms-proposed-lease-id",
  ],
  [action("renew"), "MissingRequiredHeader x-ms-lease-id"],
  [action("renew", { "x-ms-lease-id": id }), { action: "renew", id }],
  [action("change", { "x-ms-lease-id": id }), "MissingRequiredHeader x-ms-proposed-lease-id"],
  [
    action("change", { "x-ms-lease-id": id, "x-ms-proposed-lease-id": id }),
    { action: "change", id, proposedId: id },
  ],
  [action("release", { "x-ms-lease-id": "garbage" }), "InvalidHeaderValue x-ms-lease-id"],
  [action("RELEASE", { "x-ms-lease-id": id }), { action: "release", id }],
  [action("break"), { action: "break" }],
  [period("0"), { action: "break", periodSeconds: 0 }],
  [period("60"), { action: "break", periodSeconds: 60 }],
  [period("61"), "InvalidHeaderValue x-ms-lease-break-period"],
  [period("-1"), "InvalidHeaderValue x-ms-lease-break-period"],
])("%j", (headers, expected) => {
  expect(outcome(headers)).toEqual(expected);
});

test("file leases are infinite and cannot be renewed", () => {
  expect(outcome(duration("15"), "file")).toBe("InvalidHeaderValue x-ms-lease-duration");
  expect(outcome(duration("-1"), "file")).toEqual({ action: "acquire", durationSeconds: -1 });
  const renewal = action("renew", { "x-ms-lease-id": id });
  expect(outcome(renewal, "file")).toBe("InvalidHeaderValue x-ms-lease-action");
});

test("an id may be absent, but not malformed", () => {
  expect(parseLeaseId(reader({}))).toEqual({ ok: true, value: undefined });
  expect(parseLeaseId(reader({ "x-ms-lease-id": '"garbage"' })).ok).toBe(false);
});
