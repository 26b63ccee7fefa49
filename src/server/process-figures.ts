import { cpuUsage, memoryUsage } from "node:process";
import type { ProcessFigures } from "./metrics.ts";

const microsecondsPerSecond = 1_000_000;

/** Memory and CPU time of this process. */
export function processFigures(): ProcessFigures {
  const { rss, heapUsed } = memoryUsage();
  const { user, system } = cpuUsage();
  const cpuSeconds = (user + system) / microsecondsPerSecond;
  return { residentBytes: rss, heapUsedBytes: heapUsed, cpuSeconds };
}
