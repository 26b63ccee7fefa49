import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Baseline } from "../../scripts/bench/guard/verdict.ts";
import { yardstick } from "../../scripts/bench/guard/yardstick.ts";

/** CPU times of the fixed work of the `bench:guard` baseline on this machine, in microseconds. */
export function yardsticks(): readonly number[] {
  return [yardstick(), yardstick(), yardstick()];
}

/** How many times longer this machine takes for the fixed work than the machine of the baseline.
 *  Other processes only add time: the minimum is closest to the machine's speed. */
export function slownessOf(sticks: readonly number[]): number {
  const path = join(import.meta.dirname, "../../scripts/bench/guard/baseline.json");
  const { yardstickMicroseconds } = JSON.parse(readFileSync(path, "utf8")) as Baseline;
  return Math.min(...sticks) / yardstickMicroseconds;
}
