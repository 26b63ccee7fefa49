import type { Figures } from "../compare.ts";
import { formatRate } from "./print.ts";

/** One operation on several servers that differ in one property. */
export interface ComparedOperation {
  readonly name: string;
  readonly title: string;
  /** In the order of the compared property. */
  readonly figures: readonly Figures[];
}

/** CPU per request on the last server, divided by that on the first. */
export function lastToFirst({ figures }: ComparedOperation): number {
  const first = figures[0]?.cpuMicrosecondsPerRequest ?? Number.NaN;
  return (figures.at(-1)?.cpuMicrosecondsPerRequest ?? Number.NaN) / first;
}

/** In Markdown: per server, in the order of `labels`, CPU per request and steps per second. */
export function costTable(
  labels: readonly string[],
  operations: readonly ComparedOperation[],
  ratioText: (ratio: number) => string,
): string {
  const costs = labels.map((label) => `CPU µs, ${label}`);
  const rates = labels.map((label) => `per second, ${label}`);
  const names = ["operation", ...costs, "×", ...rates];
  const rowOf = (operation: ComparedOperation): string => {
    const { title, figures } = operation;
    const costCells = figures.map((one) => one.cpuMicrosecondsPerRequest.toFixed(1));
    const rateCells = figures.map((one) => formatRate(one.perSecond));
    const ratio = ratioText(lastToFirst(operation));
    return `| ${[title, ...costCells, ratio, ...rateCells].join(" | ")} |`;
  };
  const header = `| ${names.join(" | ")} |`;
  return [header, `|---${"|---:".repeat(names.length - 1)}|`, ...operations.map(rowOf)].join("\n");
}

/** One line for the console: the cost per server, and the ratio of the last to the first. */
export function costLine(operation: ComparedOperation): string {
  const costs = operation.figures.map(
    ({ server, cpuMicrosecondsPerRequest, perSecond, problem }) =>
      `${server.replace("etagere-", "")}: ${cpuMicrosecondsPerRequest.toFixed(1)} µs ` +
      `${formatRate(perSecond)}/s${problem === undefined ? "" : ` ${problem.slice(0, 100)}`}`,
  );
  const ratio = lastToFirst(operation).toFixed(2);
  return `${operation.name.padEnd(17)} ${costs.join("  ")}  × ${ratio}`;
}
