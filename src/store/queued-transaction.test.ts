import { describe, expect, it } from "vitest";

import type { Awaitable } from "../base/awaitable.ts";
import { Attempt } from "./attempt.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { BatchRetries, type QueuedTransaction } from "./committer.ts";
import { emptyState } from "./transactional-store.ts";

const timeoutMilliseconds = 1000;

function queuedOf(work: () => Awaitable<unknown>): QueuedTransaction {
  return {
    work,
    attemptsMax: 1,
    settle: () => undefined,
    attempt: new Attempt(emptyState, 0n),
    result: { value: undefined },
    attemptsUsed: 0,
    externalConflicts: 0,
    isStale: true,
  };
}

describe("retries inside a batch", () => {
  it("may exceed the timeout together if each is faster", async () => {
    const clock = manualClock();
    const reruns = new BatchRetries(clock, timeoutMilliseconds);
    for (let index = 0; index < 5; index += 1) {
      const queued = queuedOf(async () => {
        await Promise.resolve();
        clock.advance(0.6 * timeoutMilliseconds);
        return index;
      });
      await reruns.run(queued, new Attempt(emptyState, 0n));
      expect(queued.result).toEqual({ value: index });
    }
    reruns.end();
  });

  it("time out one by one if they await something other than the store", async () => {
    const clock = manualClock();
    const reruns = new BatchRetries(clock, timeoutMilliseconds);
    const quick = queuedOf(() => Promise.resolve());
    await reruns.run(quick, new Attempt(emptyState, 0n));
    clock.advance(timeoutMilliseconds / 2);
    for (let index = 0; index < 2; index += 1) {
      const queued = queuedOf(() => new Promise(() => undefined));
      const attempt = new Attempt(emptyState, 0n);
      const run = reruns.run(queued, attempt);
      clock.advance(timeoutMilliseconds);
      await run;
      expect(queued.result).toHaveProperty("error");
      expect(() => attempt.delete(new Uint8Array([1]))).toThrow(/ended/);
    }
    reruns.end();
  });
});
