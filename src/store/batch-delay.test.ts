import { describe, expect, it } from "vitest";

import { BatchDelay } from "./committer.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";

const commitMilliseconds = 8;
const countMax = 512;

/** A delay whose commits took `commitMilliseconds`, and a queue that gets an entry in each of the
 *  next `arrivals` event-loop iterations; the clock advances by `milliseconds` in each. */
function growing(arrivals: number, milliseconds = 0) {
  const clock = manualClock();
  const delay = new BatchDelay(clock);
  for (let commits = 0; commits < 100; commits += 1) {
    delay.begin();
    clock.advance(commitMilliseconds);
    delay.end();
  }
  const queue = ["first"];
  const add = (left: number): void => {
    if (left === 0) return;
    clock.advance(milliseconds);
    queue.push("next");
    setImmediate(() => add(left - 1));
  };
  setImmediate(() => add(arrivals));
  return { delay, queue };
}

describe("a batch", () => {
  it("is delayed while transactions arrive in each iteration", async () => {
    const { delay, queue } = growing(5);
    await delay.whileGrowing(queue, countMax);
    expect(queue).toHaveLength(6);
  });

  it("is delayed for half of the duration of a commit at most", async () => {
    const { delay, queue } = growing(50, 1);
    await delay.whileGrowing(queue, countMax);
    expect(queue.length - 1).toBe(commitMilliseconds / 2);
  });

  it("is delayed until it is full at most", async () => {
    const { delay, queue } = growing(50);
    await delay.whileGrowing(queue, 10);
    expect(queue).toHaveLength(10);
  });

  it("gets the transactions of one iteration while commits take no time", async () => {
    const queue = ["first"];
    setImmediate(() => queue.push("second"));
    setImmediate(() => setImmediate(() => queue.push("third")));
    await new BatchDelay(manualClock()).whileGrowing(queue, countMax);
    expect(queue).toEqual(["first", "second"]);
  });
});
