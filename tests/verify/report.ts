import type { FaultName } from "./nemesis.ts";
import type { Finding } from "./verdict.ts";

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly servers: number;
  readonly findings: readonly Finding[];
  readonly faults: ReadonlyMap<FaultName, number>;
  /** Where a history lies that breaks a promise. */
  readonly kept: string;
  readonly isGreen: boolean;
}

const shownMax = 10;

export function report({ seed, seconds, servers, findings, faults, kept, isGreen }: Report): void {
  const total = findings.reduce((sum, { operations }) => sum + operations, 0);
  console.log(`seed ${seed}, ${seconds} s, ${servers} server processes on one data folder`);
  console.log(`faults: ${[...faults].map(([name, count]) => `${name} ${count}`).join(", ")}\n`);
  console.log("workload          keys  operations  unknown  refused  verdict");
  for (const finding of findings) console.log(rowOf(finding));
  for (const { workload, problems } of findings) {
    for (const problem of problems.slice(0, shownMax)) console.log(`\n${workload}: ${problem}`);
    if (problems.length > shownMax) console.log(`… and ${problems.length - shownMax} more`);
  }
  console.log(`\n${total} operations: ${isGreen ? "every promise kept" : "A PROMISE IS BROKEN"}`);
  if (!isGreen) console.log(`the history is kept in ${kept}; again with -- --seed ${seed}`);
}

function rowOf({ workload, keys, operations, unknown, refused, problems }: Finding): string {
  return [
    workload.padEnd(16),
    String(keys).padStart(6),
    String(operations).padStart(11),
    String(unknown).padStart(8),
    String(refused).padStart(8),
    problems.length === 0 ? "  holds" : `  BROKEN (${problems.length})`,
  ].join(" ");
}
