import { isLongPlan, planOf, type Plan } from "./plan.ts";
import type { PlantedBug } from "./plant.ts";
import type { SeedRunner } from "./seed-runner.ts";

export interface Search {
  /** Seeds that were run. */
  readonly seeds: number;
  readonly operations: number;
  /** The first problem; undefined if no seed had one. */
  readonly problem: string | undefined;
}

/** Runs seeds with a planted bug until one has a problem. */
export async function findBug(
  runner: SeedRunner,
  { bug, site, plan: given }: PlantedBug,
  seedsMax: number,
): Promise<Search> {
  let operations = 0;
  let seeds = 0;
  for (const plan of plansFor(site, seedsMax)) {
    const result = await runner.run({ plan: { ...plan, ...given }, bug });
    operations += result.operations;
    seeds += 1;
    const [problem] = result.problems;
    if (problem !== undefined) return { seeds, operations, problem };
  }
  return { seeds, operations, problem: undefined };
}

/** The first seeds, of those that can show a bug of such a site. Runs of hours take a minute. */
function* plansFor(site: PlantedBug["site"], countMax: number): Iterable<Plan> {
  for (let seed = 1, count = 0; count < countMax; seed += 1) {
    const plan = planOf(seed);
    if (site !== undefined && (plan.site !== site || isLongPlan(plan))) continue;
    count += 1;
    yield plan;
  }
}
