import { describe, expect, it } from "vitest";
import { ticksPerMillisecond } from "./ticks.ts";
import { newLoopShare, unitsPerIterationMax } from "./loop-share.ts";
import { realClock } from "../host/world.ts";

const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** On a busy machine a few milliseconds may pass between two lines of a test. */
const still = { ...realClock(), monotonic: () => 0n };

describe("the work limit per event-loop iteration", () => {
  it("is shared by all callers and renewed in the next iteration", async () => {
    const loop = newLoopShare(still);
    const other = newLoopShare(still);
    expect(loop.spend(unitsPerIterationMax - 2)).toBeUndefined();
    expect(loop.spend(1)).toBeUndefined();
    const first = loop.spend(1);
    expect(first).toBeInstanceOf(Promise);
    expect(loop.spend(1)).toBeInstanceOf(Promise);
    // Another server in the process has a limit of its own.
    expect(other.spend(1)).toBeUndefined();
    await first;
    expect(loop.spend(1)).toBeUndefined();
  });

  it("ends after a few milliseconds, however little was counted", async () => {
    const clock = { ...still, ticks: 0n, monotonic: () => clock.ticks };
    const loop = newLoopShare(clock);
    expect(loop.spend(1)).toBeUndefined();
    clock.ticks += 4n * ticksPerMillisecond;
    const wait = loop.spend(1);
    expect(wait).toBeInstanceOf(Promise);
    await wait;
    expect(loop.spend(1)).toBeUndefined();
  });

  it("runs the steps of long work in different iterations", async () => {
    const steps = await iterationsOf(1, unitsPerIterationMax, 5);
    expect(new Set(steps.map(({ iteration }) => iteration)).size).toBe(5);
  });

  it("is not exceeded by many callers that wait, and resumes them in order", async () => {
    const callers = 20;
    const steps = await iterationsOf(callers, unitsPerIterationMax / 4, 8);
    const unitsIn = new Map<number, number>();
    // The first step of each caller runs before it waits.
    for (const { iteration, step } of steps) {
      if (step > 0) unitsIn.set(iteration, (unitsIn.get(iteration) ?? 0) + 1);
    }
    expect(Math.max(...unitsIn.values())).toBeLessThanOrEqual(4);
    const second = steps.filter(({ step }) => step === 5).map(({ caller }) => caller);
    expect(second).toEqual(second.toSorted((a, b) => a - b));
  });
});

interface Step {
  readonly caller: number;
  readonly step: number;
  readonly iteration: number;
}

/** Runs callers at the same time, each with this many steps of `units`. */
async function iterationsOf(callers: number, units: number, count: number): Promise<Step[]> {
  await nextIteration();
  let iteration = 0;
  const counting = { isOver: false };
  const countIterations = async (): Promise<void> => {
    for (; !counting.isOver; iteration += 1) await nextIteration();
  };
  const counted = countIterations();
  const steps: Step[] = [];
  const loop = newLoopShare(still);
  const run = async (caller: number): Promise<void> => {
    for (let step = 0; step < count; step += 1) {
      steps.push({ caller, step, iteration });
      await loop.spend(units);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => run(caller)));
  counting.isOver = true;
  await counted;
  return steps;
}
