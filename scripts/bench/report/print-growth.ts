import { growthMax } from "../goals.ts";
import { formatRate } from "./print.ts";
import { growthOf } from "./write-growth.ts";
import type { Grown } from "./write-growth.ts";

/** Prints one line: the cost per number of stored objects, and the growth to the last. */
export function printGrown(grown: Grown): void {
  const growth = growthOf(grown);
  const levels = grown.figures.map(
    ({ server, cpuMicrosecondsPerRequest, perSecond, problem }) =>
      `${server.replace("etagere-", "")}: ${cpuMicrosecondsPerRequest.toFixed(1)} µs ` +
      `${formatRate(perSecond)}/s${problem === undefined ? "" : ` ${problem.slice(0, 100)}`}`,
  );
  const verdict = growth > growthMax ? " MISSED" : "";
  console.log(`${grown.name.padEnd(17)} ${levels.join("  ")}  × ${growth.toFixed(2)}${verdict}`);
}
