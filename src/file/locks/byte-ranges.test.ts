import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRangeLocked, lockRanges, unlockRanges } from "./byte-ranges.ts";
import { noLocks, type LockState } from "./lock-state.ts";

const bytesMax = 24;

/** A bitmap for every lock: what locking means, without a clever comparison. */
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
          const stretch = { offset: BigInt(offset), length: BigInt(length) };
          const wanted = naive(open, offset, length, exclusive);
          if (what === "lock") {
            const free = model.every(
              (held) =>
                !meet(held, wanted) || !(exclusive || (held.exclusive && held.open !== open)),
            );
            const outcome = lockRanges(state, open, [{ ...stretch, exclusive }]);
            expect(outcome.ok).toBe(free);
            state = outcome.state;
            if (free) model.push(wanted);
          } else if (what === "unlock") {
            const index = model.findIndex(
              (held) => held.open === open && held.offset === offset && held.length === length,
            );
            const outcome = unlockRanges(state, open, [stretch]);
            expect(outcome.ok).toBe(index >= 0);
            state = outcome.state;
            if (index >= 0) model = model.filter((_, at) => at !== index);
          } else {
            const writes = what === "write";
            const blocked = model.some(
              (held) =>
                length > 0 && meet(held, wanted) && (held.exclusive ? held.open !== open : writes),
            );
            expect(isRangeLocked(state, stretch, { open, writes })).toBe(blocked);
          }
        }
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it("takes all of a request or nothing", () => {
    const first = lockRanges(noLocks, 1n, [{ offset: 10n, length: 5n, exclusive: true }]);
    const both = lockRanges(first.state, 2n, [
      { offset: 0n, length: 5n, exclusive: true },
      { offset: 12n, length: 1n, exclusive: false },
    ]);
    expect(both).toEqual({ ok: false, refusal: "lock-not-granted", state: first.state });
  });
});
