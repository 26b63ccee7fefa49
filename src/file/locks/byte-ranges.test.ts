import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lockingRanges, lockRanges, unlockRanges } from "./byte-ranges.ts";
import { noLocks, rangesMax, type LockState } from "./lock-state.ts";

const bytesMax = 24;

/** Reference model: one bitmap per lock. */
interface NaiveLock {
  readonly open: bigint;
  readonly bytes: ReadonlySet<number>;
  readonly gap: number | undefined;
  readonly exclusive: boolean;
  readonly offset: number;
  readonly length: number;
}

function naive(open: bigint, offset: number, length: number, exclusive: boolean): NaiveLock {
  const bytes = new Set<number>();
  for (let at = offset; at < offset + length; at += 1) bytes.add(at);
  return { open, bytes, gap: length === 0 ? offset : undefined, exclusive, offset, length };
}

function meet(left: NaiveLock, right: NaiveLock): boolean {
  const covers = (lock: NaiveLock, gap: number) => lock.bytes.has(gap) && lock.bytes.has(gap - 1);
  if (left.gap !== undefined) return covers(right, left.gap);
  if (right.gap !== undefined) return covers(left, right.gap);
  return [...left.bytes].some((byte) => right.bytes.has(byte));
}

const step = fc.record({
  what: fc.constantFrom("lock", "unlock", "read", "write"),
  open: fc.constantFrom(1n, 2n, 3n),
  offset: fc.nat(bytesMax),
  length: fc.nat(6),
  exclusive: fc.boolean(),
});

describe("byte-range locks", () => {
  it("behave like a bitmap for every lock", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state: LockState = noLocks;
        let model: NaiveLock[] = [];
        for (const { what, open, offset, length, exclusive } of steps) {
          const span = { offset: BigInt(offset), length: BigInt(length) };
          const wanted = naive(open, offset, length, exclusive);
          if (what === "lock") {
            const free = model.every(
              (held) =>
                !meet(held, wanted) || !(exclusive || (held.exclusive && held.open !== open)),
            );
            const outcome = lockRanges(state, open, [{ ...span, exclusive }]);
            expect(outcome.ok).toBe(free);
            state = outcome.state;
            if (free) model.push(wanted);
          } else if (what === "unlock") {
            const index = model.findIndex(
              (held) => held.open === open && held.offset === offset && held.length === length,
            );
            const outcome = unlockRanges(state, open, [span]);
            expect(outcome.ok).toBe(index >= 0);
            state = outcome.state;
            if (index >= 0) model = model.filter((_, at) => at !== index);
          } else {
            const writes = what === "write";
            const blocked = model.some(
              (held) =>
                length > 0 && meet(held, wanted) && (held.exclusive ? held.open !== open : writes),
            );
            expect(lockingRanges(state, span, { open, writes }).length > 0).toBe(blocked);
          }
        }
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it("are granted all or none", () => {
    const first = lockRanges(noLocks, 1n, [{ offset: 10n, length: 5n, exclusive: true }]);
    const both = lockRanges(first.state, 2n, [
      { offset: 0n, length: 5n, exclusive: true },
      { offset: 12n, length: 1n, exclusive: false },
    ]);
    expect(both).toEqual({ ok: false, refusal: "lock-not-granted", state: first.state });
  });

  it("of a list are granted as if requested one after the other", () => {
    const range = fc.record({
      offset: fc.nat(bytesMax).map(BigInt),
      length: fc.nat(4).map(BigInt),
      exclusive: fc.boolean(),
    });
    const listed = fc.array(range, { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(listed, listed, listed, (foreign, own, list) => {
        const before = own.reduce(
          (state, each) => lockRanges(state, 1n, [each]).state,
          foreign.reduce((state, each) => lockRanges(state, 2n, [each]).state, noLocks),
        );
        let state = before;
        let free = true;
        for (const request of list) {
          const outcome = lockRanges(state, 1n, [request]);
          free = free && outcome.ok;
          state = outcome.state;
        }
        const outcome = lockRanges(before, 1n, list);
        expect(outcome).toEqual(
          free ? { ok: true, state } : { ok: false, refusal: "lock-not-granted", state: before },
        );
      }),
      { seed: 11, numRuns: 3000 },
    );
  });

  it("of a list are unlocked as if unlocked one after the other", () => {
    const range = fc.record({ offset: fc.nat(3).map(BigInt), length: fc.nat(2).map(BigInt) });
    const listed = fc.array(range, { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(listed, listed, (locked, list) => {
        const before = locked.reduce(
          (state, each) => lockRanges(state, 1n, [{ ...each, exclusive: false }]).state,
          lockRanges(noLocks, 2n, [{ offset: 0n, length: 2n, exclusive: false }]).state,
        );
        let state = before;
        let isThere = true;
        for (const span of list) {
          const outcome = unlockRanges(state, 1n, [span]);
          isThere = isThere && outcome.ok;
          if (isThere) state = outcome.state;
        }
        const outcome = unlockRanges(before, 1n, list);
        expect(outcome.ok).toBe(isThere);
        expect(outcome.state).toEqual(state);
      }),
      { seed: 12, numRuns: 2000 },
    );
  });

  it.each([2, 4])("of a list: %d exclusive ones after a shared one that they meet", (count) => {
    const exclusive = Array.from({ length: count }, (_, at) => {
      return { offset: BigInt(at), length: 1n, exclusive: true };
    });
    const shared = { offset: 0n, length: BigInt(count), exclusive: false };
    expect(lockRanges(noLocks, 1n, [shared, ...exclusive]).ok).toBe(false);
    expect(lockRanges(noLocks, 1n, [...exclusive, shared]).ok).toBe(true);
  });

  it("may be unlocked by an empty list", () => {
    const { state } = lockRanges(noLocks, 1n, [{ offset: 0n, length: 1n, exclusive: true }]);
    expect(unlockRanges(state, 1n, [])).toEqual({ ok: true, state });
  });

  it("are bounded per file", () => {
    const list = Array.from({ length: rangesMax + 1 }, (_, at) => {
      return { offset: BigInt(at), length: 1n, exclusive: true };
    });
    expect(lockRanges(noLocks, 1n, list)).toMatchObject({ ok: false, refusal: "too-many-locks" });
    const { state } = lockRanges(noLocks, 1n, list.slice(1));
    expect(state.ranges).toHaveLength(rangesMax);
    expect(lockRanges(state, 1n, list.slice(0, 1))).toMatchObject({ refusal: "too-many-locks" });
  });
});
