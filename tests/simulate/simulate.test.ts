import { describe, expect, it } from "vitest";
import { keptPlansPath, readKeptPlans } from "./kept-plans.ts";
import { plantedBugs } from "./planted-bugs.ts";
import { planOf, type Plan } from "./plan.ts";
import { simulate } from "./simulation.ts";
import { inForm } from "../harness/long-form.ts";

/** A part of a seed, for every test run; `npm run simulate` runs whole seeds. */
function shortPlan(seed: number): Plan {
  return { ...planOf(seed), operationsMax: 150, secondsMax: 20 };
}

describe("a simulated server", () => {
  it.each(inForm([9], [5, 9, 11]))(
    "keeps its promises under the faults of seed %i",
    async (seed) => {
      const { problems, operations } = await simulate(shortPlan(seed));
      expect(problems).toEqual([]);
      expect(operations).toBeGreaterThan(50);
    },
  );

  it.each(readKeptPlans(keptPlansPath))("no longer shows that $found", async ({ plan }) => {
    expect((await simulate(plan)).problems).toEqual([]);
  });

  it.each(["a write without the lease id is accepted"])("shows that %s", async (name) => {
    const planted = plantedBugs.find(({ bug }) => bug === name);
    const remove = planted?.plant();
    try {
      const { problems } = await simulate({ ...shortPlan(5), workloads: ["lease"] });
      expect(problems.join()).toContain("lease: ");
    } finally {
      remove?.();
    }
  });

  it("has successes of every workload, if need be after the faults", async () => {
    const plan = shortPlan(5);
    const rates = { ...plan.rates, lostConnection: 1 };
    const { problems, counts } = await simulate({
      ...plan,
      workloads: ["queue"],
      rates,
      operationsMax: 20,
      thinkMicroseconds: 20_000_000,
    });
    expect(problems).toEqual([]);
    expect(counts.get("workload suppressed by faults: queue")).toBe(1);
  });

  it.each(["folder", "nodes"] as const)(
    "does the same again on %s, message by message",
    async (site) => {
      const plan = {
        ...shortPlan(5),
        site,
        events: ["kill", "power loss", "pause"] as const,
        operationsMax: inForm(60, 150),
      };
      const first = await simulate(plan);
      const second = await simulate(plan);
      expect(second.hash).toBe(first.hash);
      expect(second.events).toBe(first.events);
      const other = await simulate({ ...plan, seed: 6 });
      expect(other.hash).not.toBe(first.hash);
    },
  );
});
