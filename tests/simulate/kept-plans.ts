import { readFileSync, writeFileSync } from "node:fs";
import type { Plan } from "./plan.ts";

export interface KeptPlan {
  /** What it showed; each was repaired. */
  readonly found: string;
  readonly plan: Plan;
}

/** Plans that have failed, as small as they still did. `npm run simulate -- --seed N --keep TEXT`
 *  adds to it, from the root of the project. */
export const keptPlansPath = "tests/simulate/kept-plans.json";

export function readKeptPlans(path: string): readonly KeptPlan[] {
  return JSON.parse(readFileSync(path, "utf8")) as readonly KeptPlan[];
}

export function keepPlan(path: string, kept: KeptPlan): void {
  const all = [...readKeptPlans(path), kept];
  writeFileSync(path, `${JSON.stringify(all, undefined, 2)}\n`);
}
