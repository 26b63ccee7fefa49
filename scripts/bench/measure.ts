import { readFileSync } from "node:fs";
import type { Step } from "./operations.ts";
import type { Target } from "./target.ts";

export interface Measured {
  readonly perSecond: number;
  readonly medianMilliseconds: number;
  readonly p99Milliseconds: number;
  readonly errors: number;
  readonly firstError: string | undefined;
  readonly residentMegabytes: number;
}

const errorsMax = 200;

/** Runs the step on so many connections for so long. */
export async function measure(
  target: Target,
  step: Step,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<Measured> {
  const times: number[] = [];
  const failures: string[] = [];
  const start = performance.now();
  const end = start + seconds * 1000;
  const workers = Array.from({ length: connections }, async (_, index) => {
    const connection = target.connect();
    for (let before = start; before < end && failures.length < errorsMax;) {
      before = performance.now();
      try {
        await step({ connection, index, count: connections });
        times.push(performance.now() - before);
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    connection.close();
  });
  await Promise.all(workers);
  const elapsedSeconds = (performance.now() - start) / 1000;
  const sorted = times.toSorted((a, b) => a - b);
  const quantile = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return {
    perSecond: times.length / elapsedSeconds,
    medianMilliseconds: quantile(0.5),
    p99Milliseconds: quantile(0.99),
    errors: failures.length,
    firstError: failures[0],
    residentMegabytes: residentMegabytes(target.pid),
  };
}

function residentMegabytes(pid: number): number {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Math.round(Number(kilobytes ?? 0) / 1024);
  } catch {
    return 0;
  }
}
