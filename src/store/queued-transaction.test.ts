import { describe, expect, it } from "vitest";

import type { Awaitable } from "../base/awaitable.ts";
import { Attempt } from "./attempt.ts";
import { manualClock } from "./manual-clock.ts";
import { BatchRetries } from "./queued-transaction.ts";
import type { QueuedTransaction } from "./queued-transaction.ts";
import { nothingRead } from "./transactional-store.ts";

const patienceMilliseconds = 1000;

function pendingOf(work: () => Awaitable<unknown>): QueuedTransaction {
  return {
    work,
    attemptsMax: 1,
    settle: () => undefined,
    attempt: new Attempt(nothingRead, 0n),
    outcome: { value: undefined },
    attemptsUsed: 0,
    externalConflicts: 0,
    isStale: true,
  };
}

describe("those of a batch who run again", () => {
  it("may take long together, as long as none of them does alone", async () => {
    const clock = manualClock();
    const reruns = new BatchRetries(clock, patienceMilliseconds);
    for (let index = 0; index < 5; index += 1) {
      const pending = pendingOf(async () => {
        await Promise.resolve();
        clock.advance(0.6 * patienceMilliseconds);
        return index;
      });
      await reruns.run(pending, new Attempt(nothingRead, 0n));
      expect(pending.outcome).toEqual({ value: index });
    }
    reruns.end();
  });

  it("are given up one by one when they wait for something else", async () => {
    const clock = manualClock();
    const reruns = new BatchRetries(clock, patienceMilliseconds);
    const quick = pendingOf(() => Promise.resolve());
    await reruns.run(quick, new Attempt(nothingRead, 0n));
    clock.advance(patienceMilliseconds / 2);
    for (let index = 0; index < 2; index += 1) {
      const pending = pendingOf(() => new Promise(() => undefined));
      const attempt = new Attempt(nothingRead, 0n);
      const run = reruns.run(pending, attempt);
      clock.advance(patienceMilliseconds);
      await run;
      expect(pending.outcome).toHaveProperty("error");
      expect(() => attempt.delete(new Uint8Array([1]))).toThrow(/ended/);
    }
    reruns.end();
  });
});
