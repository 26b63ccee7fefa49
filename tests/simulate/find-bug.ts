import { planOf } from "./plan.ts";
import type { PlantedBug } from "./planted-bugs.ts";
import { simulate } from "./simulation.ts";

export interface Search {
  /** Seeds that were run. */
  readonly seeds: number;
  readonly operations: number;
  /** The first problem; undefined if no seed had one. */
  readonly problem: string | undefined;
}

/** Runs seeds with a planted bug until one has a problem. */
export async function findBug(
  plant: PlantedBug["plant"],
  seedsMax: number,
  first = 1,
): Promise<Search> {
  let operations = 0;
  for (let seeds = 1; seeds <= seedsMax; seeds += 1) {
    const remove = plant();
    try {
      const outcome = await simulate(planOf(first + seeds - 1));
      operations += outcome.operations;
      const [problem] = outcome.problems;
      if (problem !== undefined) return { seeds, operations, problem };
    } finally {
      remove();
    }
  }
  return { seeds: seedsMax, operations, problem: undefined };
}
