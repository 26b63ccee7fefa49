import { planOf } from "./plan.ts";
import type { SeedRunner } from "./seed-runner.ts";

export interface Search {
  /** Seeds that were run. */
  readonly seeds: number;
  readonly operations: number;
  /** The first problem; undefined if no seed had one. */
  readonly problem: string | undefined;
}

/** Runs seeds with a planted bug until one has a problem. */
export async function findBug(runner: SeedRunner, bug: string, seedsMax: number): Promise<Search> {
  let operations = 0;
  for (let seed = 1; seed <= seedsMax; seed += 1) {
    const result = await runner.run({ plan: planOf(seed), bug });
    operations += result.operations;
    const [problem] = result.problems;
    if (problem !== undefined) return { seeds: seed, operations, problem };
  }
  return { seeds: seedsMax, operations, problem: undefined };
}
