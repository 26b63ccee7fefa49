import { describe, expect, test } from "vitest";
import { faultMessage } from "./faults.ts";
import { checkLease, startLease } from "./lease.ts";
import type { Lease, LeaseCheckPolicy, LeaseKind, LeaseState } from "./lease.ts";
import type { Result } from "./result.ts";
import { ticksFromSeconds } from "../base/ticks.ts";

const idA = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const idB = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb";
const start = 637_000_000_000_000_000n;
const at = (seconds: number): bigint => start + ticksFromSeconds(seconds);
const now = at(20);

/** Leased by A for 30 s, of which 20 s have passed in the active states. */
const leases: Readonly<Record<LeaseState, Lease | undefined>> = {
  available: undefined,
  leased: startLease(idA, 30, start),
  breaking: { ...startLease(idA, 30, start), breaksAt: at(26) },
  broken: { ...startLease(idA, 30, start), breaksAt: at(10) },
  expired: startLease(idA, 15, start),
};
const states = ["available", "leased", "breaking", "broken", "expired"] as const;

const code = (result: Result<unknown>): string => (result.ok ? "ok" : result.fault.code);

interface DataRow {
  readonly kind: LeaseKind;
  readonly policy: LeaseCheckPolicy;
  readonly id: string | undefined;
  readonly expected: readonly string[];
}

const missing = "LeaseIdMissing";
const lost = "LeaseLost";
const codesOf = (name: string) => ({
  absent: `LeaseNotPresentWith${name}Operation`,
  other: `LeaseIdMismatchWith${name}Operation`,
});

/** Columns as `states`. */
function dataRows(kind: LeaseKind, name: string): DataRow[] {
  const { absent, other } = codesOf(name);
  const holder = [absent, "ok", "ok", lost, lost];
  const stranger = [absent, other, other, lost, lost];
  return [
    { kind, policy: "match-if-leased", id: idA, expected: holder },
    { kind, policy: "match-if-leased", id: idB, expected: stranger },
    {
      kind,
      policy: "match-if-leased",
      id: undefined,
      expected: ["ok", missing, missing, "ok", "ok"],
    },
    { kind, policy: "match-if-given", id: idA, expected: holder },
    { kind, policy: "match-if-given", id: idB, expected: stranger },
    { kind, policy: "match-if-given", id: undefined, expected: ["ok", "ok", "ok", "ok", "ok"] },
    { kind, policy: "none", id: idB, expected: ["ok", "ok", "ok", "ok", "ok"] },
  ];
}

const dataCells = [
  ...dataRows("blob", "Blob"),
  ...dataRows("container", "Container"),
  ...dataRows("file", "File"),
  ...dataRows("share", "Container"),
].flatMap(({ kind, policy, id, expected }) =>
  states.map((state, index) => ({ kind, policy, id, state, expected: expected[index] })),
);

describe("data operations", () => {
  test.each(dataCells)("$kind $policy $id while $state: $expected", (cell) => {
    const { kind, policy, id, state, expected } = cell;
    expect(code(checkLease(leases[state], id, policy, kind, now))).toBe(expected);
  });

  test("texts name the kind of resource", () => {
    const refusal = checkLease(leases.leased, undefined, "match-if-leased", "share", now);
    expect(refusal.ok ? "" : faultMessage(refusal.fault)).toBe(
      "There is currently a lease on the file share and no lease ID was specified in the request.",
    );
    const ended = checkLease(leases.broken, idA, "match-if-leased", "container", now);
    expect(ended.ok ? "" : faultMessage(ended.fault)).toBe(
      "A lease ID was specified, but the lease for the container has expired.",
    );
  });
});
