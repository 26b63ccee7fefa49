import type { Finding } from "./verdict.ts";

export interface Report {
  readonly seed: number;
  readonly seconds: number;
  readonly servers: number;
  /** Options common to the server processes. */
  readonly shared: string;
  readonly findings: readonly Finding[];
  readonly faults: ReadonlyMap<string, number>;
  /** The path of a history with a violation, and of the data it left. */
  readonly kept: string;
  readonly isGreen: boolean;
}

const shownMax = 10;

export function report(run: Report): string {
  const { seed, seconds, servers, shared, findings, faults, kept, isGreen } = run;
  const total = findings.reduce((sum, { operations }) => sum + operations, 0);
  const verdict = isGreen ? "every promise kept" : "A PROMISE IS BROKEN";
  return [
    `seed ${seed}, ${seconds} s, ${servers} server processes on one ${shared}`,
    `faults: ${[...faults].map(([name, count]) => `${name} ${count}`).join(", ")}`,
    "",
    "workload          keys  operations  unknown  refused  verdict",
    ...findings.map(rowOf),
    ...findings.flatMap(problemsOf),
    "",
    `${total} operations: ${verdict}`,
    ...(isGreen ? [] : [`history and data are kept in ${kept}; again with -- --seed ${seed}`]),
  ].join("\n");
}

function problemsOf({ workload, problems }: Finding): readonly string[] {
  const shown = problems.slice(0, shownMax).map((problem) => `${workload}: ${problem}`);
  const more = problems.length > shownMax ? [`… and ${problems.length - shownMax} more`] : [];
  return problems.length === 0 ? [] : ["", ...shown, ...more];
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
