import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyLeaseAction,
  type LeaseAction,
  afterWrite,
  infiniteLeaseSeconds,
  leaseProperties,
  leaseState,
  startLease,
  type Lease,
  type LeaseKind,
  type LeaseState,
} from "./lease.ts";
import type { Result } from "./result.ts";
import { ticksFromSeconds } from "../base/ticks.ts";

const idA = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
const idB = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb";
const idC = "cccccccc-cccc-4ccc-8ccc-cccccccccccc";
const freshId = "ffffffff-ffff-4fff-8fff-ffffffffffff";
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

const acquire = (proposedId?: string): LeaseAction =>
  proposedId === undefined
    ? { action: "acquire", durationSeconds: 60 }
    : { action: "acquire", durationSeconds: 60, proposedId };
const change = (id: string, proposedId: string): LeaseAction => ({
  action: "change",
  id,
  proposedId,
});

/** Describes the next state with its lease id and remaining break time, or the code of the 409. */
function describeOutcome(result: ReturnType<typeof applyLeaseAction>): string {
  if (!result.ok) return result.fault.code;
  const { lease, leaseTimeSeconds } = result.value;
  const names: Readonly<Record<string, string>> = { [idA]: "A", [idB]: "B", [freshId]: "new" };
  const holder = lease === undefined ? "" : ` ${names[lease.id]}`;
  const time = leaseTimeSeconds === undefined ? "" : ` ${leaseTimeSeconds}s`;
  return `${leaseState(lease, now)}${holder}${time}`;
}

const present = "LeaseAlreadyPresent";
const mismatch = "LeaseIdMismatchWithLeaseOperation";
const notPresent = "LeaseNotPresentWithLeaseOperation";
const notRenewable = "LeaseIsBrokenAndCannotBeRenewed";

const rows: readonly (readonly [string, LeaseAction, readonly string[]])[] = [
  ["acquire", acquire(), ["leased new", present, present, "leased new", "leased new"]],
  [
    "acquire A",
    acquire(idA),
    ["leased A", "leased A", "LeaseIsBreakingAndCannotBeAcquired", "leased A", "leased A"],
  ],
  ["acquire B", acquire(idB), ["leased B", present, present, "leased B", "leased B"]],
  [
    "renew A",
    { action: "renew", id: idA },
    [mismatch, "leased A", notRenewable, notRenewable, "leased A"],
  ],
  ["renew B", { action: "renew", id: idB }, [mismatch, mismatch, mismatch, mismatch, mismatch]],
  [
    "change A to B",
    change(idA, idB),
    [notPresent, "leased B", "LeaseIsBreakingAndCannotBeChanged", notPresent, notPresent],
  ],
  ["change B to A", change(idB, idA), [notPresent, "leased A", mismatch, notPresent, notPresent]],
  ["change B to C", change(idB, idC), [notPresent, mismatch, mismatch, notPresent, notPresent]],
  [
    "release A",
    { action: "release", id: idA },
    [mismatch, "available", "available", "available", "available"],
  ],
  ["release B", { action: "release", id: idB }, [mismatch, mismatch, mismatch, mismatch, mismatch]],
  [
    "break now",
    { action: "break", periodSeconds: 0 },
    [notPresent, "broken A 0s", "broken A 0s", "broken A 0s", "broken A 0s"],
  ],
  [
    "break in 5 s",
    { action: "break", periodSeconds: 5 },
    [notPresent, "breaking A 5s", "breaking A 5s", "broken A 0s", "broken A 0s"],
  ],
  [
    "break in 60 s",
    { action: "break", periodSeconds: 60 },
    [notPresent, "breaking A 10s", "breaking A 6s", "broken A 0s", "broken A 0s"],
  ],
  [
    "break",
    { action: "break" },
    [notPresent, "breaking A 10s", "breaking A 6s", "broken A 0s", "broken A 0s"],
  ],
];

const cells = rows.flatMap(([name, action, outcomes]) =>
  states.map((state, index) => [name, state, action, outcomes[index] ?? ""] as const),
);

describe("lease actions", () => {
  test.each(states)("the example of state %s has this state", (state) => {
    expect(leaseState(leases[state], now)).toBe(state);
  });

  test.each(cells)("%s while %s", (_name, state, action, expected) => {
    const outcome = applyLeaseAction(leases[state], action, { now, kind: "blob", freshId });
    expect(describeOutcome(outcome)).toBe(expected);
  });

  test("an infinite lease breaks at once, or after the requested period", () => {
    const infinite = startLease(idA, infiniteLeaseSeconds, start);
    const moment = { now, kind: "blob", freshId } as const;
    const atOnce = applyLeaseAction(infinite, { action: "break" }, moment);
    expect(describeOutcome(atOnce)).toBe("broken A 0s");
    const later = applyLeaseAction(infinite, { action: "break", periodSeconds: 45 }, moment);
    expect(describeOutcome(later)).toBe("breaking A 45s");
  });

  test("the remaining time is rounded down", () => {
    const lease = startLease(idA, 15, start);
    const moment = { now: start + 1n, kind: "blob", freshId } as const;
    const outcome = applyLeaseAction(lease, { action: "break" }, moment);
    expect(outcome.ok && outcome.value.leaseTimeSeconds).toBe(14);
  });

  test("acquiring again and renewing restart the duration, changing does not", () => {
    const moment = { now, kind: "blob", freshId } as const;
    const expiry = (action: LeaseAction) => {
      const outcome = applyLeaseAction(leases.leased, action, moment);
      return outcome.ok ? outcome.value.lease?.expiresAt : undefined;
    };
    expect(expiry(acquire(idA))).toBe(at(80));
    expect(expiry({ action: "renew", id: idA })).toBe(at(50));
    expect(expiry(change(idA, idB))).toBe(at(30));
  });

  test("a file lease breaks at once, whatever the period", () => {
    const infinite = startLease(idA, infiniteLeaseSeconds, start);
    const moment = { now, kind: "file", freshId } as const;
    const outcome = applyLeaseAction(infinite, { action: "break", periodSeconds: 30 }, moment);
    expect(describeOutcome(outcome)).toBe("broken A 0s");
  });
});

const code = (result: Result<unknown>): string => (result.ok ? "ok" : result.fault.code);

describe("after a write", () => {
  test.each([
    ["available", undefined],
    ["leased", leases.leased],
    ["breaking", leases.breaking],
    ["broken", undefined],
    ["expired", undefined],
  ] as const)("%s", (state, expected) => {
    expect(afterWrite(leases[state], now)).toBe(expected);
    expect(afterWrite(leases[state], now, "container")).toBe(leases[state]);
  });

  test("after a write an expired lease can be renewed on a container, not on a blob", () => {
    const renewed = (kind: LeaseKind) => {
      const lease = afterWrite(leases.expired, now, kind);
      return code(applyLeaseAction(lease, { action: "renew", id: idA }, { now, kind, freshId }));
    };
    expect(renewed("blob")).toBe(mismatch);
    expect(renewed("container")).toBe("ok");
  });
});

test("a lease ends at its expiry, not a tick later", () => {
  expect(leaseState(leases.leased, at(30) - 1n)).toBe("leased");
  expect(leaseState(leases.leased, at(30))).toBe("expired");
  expect(leaseState(leases.breaking, at(26) - 1n)).toBe("breaking");
  expect(leaseState(leases.breaking, at(26))).toBe("broken");
});

test("the duration is returned only while leased", () => {
  expect(leaseProperties(leases.leased, now)).toEqual({
    status: "locked",
    state: "leased",
    duration: "fixed",
  });
  const infinite = startLease(idA, infiniteLeaseSeconds, start);
  expect(leaseProperties(infinite, now).duration).toBe("infinite");
  expect(leaseProperties(leases.breaking, now)).toEqual({ status: "locked", state: "breaking" });
  expect(leaseProperties(leases.expired, now)).toEqual({ status: "unlocked", state: "expired" });
  expect(leaseProperties(undefined, now)).toEqual({ status: "unlocked", state: "available" });
});

const anyId = fc.constantFrom(idA, idB, idC);
const anyAction: fc.Arbitrary<LeaseAction> = fc.oneof(
  fc.record({
    action: fc.constant("acquire" as const),
    durationSeconds: fc.constantFrom(15, 60, -1),
    proposedId: anyId,
  }),
  fc.record({ action: fc.constant("renew" as const), id: anyId }),
  fc.record({ action: fc.constant("change" as const), id: anyId, proposedId: anyId }),
  fc.record({ action: fc.constant("release" as const), id: anyId }),
  fc.record({ action: fc.constant("break" as const), periodSeconds: fc.nat({ max: 60 }) }),
);

test("no sequence of actions takes over an active lease without its id", () => {
  const steps = fc.array(fc.tuple(anyAction, fc.nat({ max: 30 })), { maxLength: 20 });
  fc.assert(
    fc.property(steps, (actions) => {
      let lease: Lease | undefined;
      let moment = start;
      for (const [action, seconds] of actions) {
        moment += ticksFromSeconds(seconds);
        const before = lease;
        const outcome = applyLeaseAction(lease, action, { now: moment, kind: "blob", freshId });
        if (!outcome.ok) continue;
        lease = outcome.value.lease;
        const running = leaseState(before, moment) === "leased";
        const named = [idOf(action), proposedOf(action)].includes(before?.id);
        if (running && lease?.id !== before?.id) expect(named).toBe(true);
      }
    }),
  );
});

function idOf(action: LeaseAction): string | undefined {
  return "id" in action ? action.id : undefined;
}

function proposedOf(action: LeaseAction): string | undefined {
  return "proposedId" in action ? action.proposedId : undefined;
}
