import { describe, expect, it } from "vitest";
import type { Lie } from "./lying-proxy.ts";
import { allPlantedBugs, recordWith } from "./planted-run.ts";
import { judge } from "./verdict.ts";
import type { Workload } from "./workload.ts";
import { workloads } from "./workloads/all.ts";

const honest: Lie = (passing, forward) => forward(passing);
const runsMax = 10;

async function problemsOf(workload: Workload, lie: Lie, run = 0): Promise<readonly string[]> {
  const operations = await recordWith(workload, lie, run);
  return judge([workload], operations).flatMap(({ problems }) => problems);
}

describe.each(workloads)("1 $name", (workload) => {
  // These mostly wait.
  const test = workload.name === "queue" || workload.name === "events" ? it.concurrent : it;

  test("finds no violation", async () => {
    expect(await problemsOf(workload, honest)).toEqual([]);
  });

  test.each(allPlantedBugs.filter((bug) => bug.workload === workload.name))(
    "finds the planted bug: $bug",
    async ({ lie, said }) => {
      // Whether clients meet in the critical moment is random, so a run may be repeated.
      let problems: readonly string[] = [];
      for (let run = 0; run < runsMax && problems.length === 0; run += 1) {
        problems = await problemsOf(workload, lie(), run);
      }
      expect(problems.join("\n")).toMatch(said);
    },
  );
});
