import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { keepPlan, readKeptPlans } from "./kept-plans.ts";
import { planOf, type Plan } from "./plan.ts";
import { SeedRunner } from "./seed-runner.ts";
import { shrink } from "./shrink.ts";
import { resultsIn } from "./totals.ts";

function inFolder<T>(run: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "etagere-simulate-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const result = run(folder);
  if (result instanceof Promise) return result.finally(remove) as T;
  remove();
  return result;
}

async function runProgram(text: string, secondsMax: number) {
  return inFolder(async (folder) => {
    const program = join(folder, "program.mjs");
    writeFileSync(program, text);
    return new SeedRunner(program, secondsMax).run({ plan: planOf(7) });
  });
}

describe("a run of seeds", () => {
  it("reports a seed that never ends", async () => {
    const { seed, problems } = await runProgram(`process.on("message", () => { for (;;); });`, 0.5);
    expect(seed).toBe(7);
    expect(problems.join()).toContain("hang: the run did not end within 0.5 s");
  });

  it.runIf(process.platform === "linux")("waits for a seed that gets no CPU time", async () => {
    const late = `process.on("message", () => setTimeout(() => process.exit(3), 1_500));`;
    const { problems } = await runProgram(late, 1);
    expect(problems).toEqual(["crash: the run ended its process"]);
  });

  it("reports a seed that ends its process", async () => {
    const { problems } = await runProgram(`process.on("message", () => process.exit(3));`, 60);
    expect(problems).toEqual(["crash: the run ended its process"]);
  });

  it("continues after half a line of an interrupted run", () => {
    const whole = JSON.stringify({ seed: 1, problems: [] });
    const joined = `{"seed":2,"pro${JSON.stringify({ seed: 3 })}`;
    const seeds = resultsIn(`${whole}\n${joined}\n${whole}\n{"se`).map(({ seed }) => seed);
    expect(seeds).toEqual([1, 1]);
  });
});

describe("a failing plan", () => {
  const plan: Plan = {
    ...planOf(1),
    workloads: ["lease", "queue", "tree"],
    events: ["kill", "pause"],
    processes: 3,
    clientsEach: 5,
    operationsMax: 2_000,
  };

  it("is made as small as it fails in the same way", async () => {
    const run = async (tried: Plan): Promise<readonly string[]> => {
      const isShown =
        tried.workloads.includes("queue") &&
        tried.events.includes("kill") &&
        tried.operationsMax >= 300 &&
        // Only another seed shows it with one client.
        (tried.clientsEach > 1 || tried.seed > 100_000);
      return isShown ? ["queue: lost"] : ["tree: something else"];
    };
    const reported: Plan[] = [];
    const report = (smaller: Plan): void => void reported.push(smaller);
    const smallest = await shrink(plan, ["queue: lost"], { run, report, isOver: () => false });
    expect(smallest).toMatchObject({
      workloads: ["queue"],
      events: ["kill"],
      processes: 1,
      clientsEach: 1,
      operationsMax: 400,
    });
    expect(reported.at(-1)).toEqual(smallest);
  });

  it("is kept for every test run", () => {
    inFolder((folder) => {
      const path = join(folder, "plans.json");
      writeFileSync(path, "[]");
      keepPlan(path, { found: "messages were lost", plan });
      expect(readKeptPlans(path)).toEqual([{ found: "messages were lost", plan }]);
    });
  });
});
