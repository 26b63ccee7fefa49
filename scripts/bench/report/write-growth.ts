import type { Figures, Rounds } from "../compare.ts";
import { growthMax } from "../goals.ts";
import type { Machine } from "../results.ts";
import { plotGrowth } from "./growth-plot.ts";
import { formatRate } from "./print.ts";
import { judged, loadText, machineText } from "./tables.ts";
import { jsonOf, write, writeSection } from "./write.ts";

/** One operation, with a server for each number of stored objects, from few to many. */
export interface Grown {
  readonly name: string;
  readonly title: string;
  readonly figures: readonly Figures[];
}

export interface Growth {
  readonly machine: Machine;
  readonly load: Rounds;
  readonly stored: readonly { readonly stored: number; readonly anonymousMegabytes: number }[];
  readonly grown: readonly Grown[];
}

/** CPU per request with the most objects stored, measured by the fewest. */
export function growthOf({ figures }: Grown): number {
  const first = figures[0]?.cpuMicrosecondsPerRequest ?? Number.NaN;
  return (figures.at(-1)?.cpuMicrosecondsPerRequest ?? Number.NaN) / first;
}

export function writeGrowth(folder: string, whole: Growth): void {
  write(folder, "growth.json", jsonOf(whole));
  write(folder, "growth.svg", plotGrowth(whole.grown));
  writeSection(folder, "growth", growthText(whole));
  console.log(`written to ${folder}`);
}

function growthText({ machine, load, stored, grown }: Growth): string {
  const counts = stored.map((one) => one.stored.toLocaleString("en"));
  const names = ["operation", ...counts.map((count) => `CPU µs, ${count}`), "×"];
  const rates = counts.map((count) => `per second, ${count}`);
  const header = `| ${[...names, ...rates].join(" | ")} |`;
  const memory = stored.map(
    (one) => `${one.anonymousMegabytes.toFixed(0)} MB with ${one.stored.toLocaleString("en")}`,
  );
  return [
    machineText(machine),
    `Objects stored of each kind; CPU per request (goal: at most × ${growthMax}) and steps per ` +
      `second. ${loadText(load)}`,
    "![cost of a request by what is stored](growth.svg)",
    [header, `|---${"|---:".repeat(names.length + rates.length - 1)}|`, ...grown.map(rowOf)].join(
      "\n",
    ),
    `Anonymous memory afterwards: ${memory.join(", ")}.`,
  ].join("\n\n");
}

function rowOf(grown: Grown): string {
  const costs = grown.figures.map((one) => one.cpuMicrosecondsPerRequest.toFixed(1));
  const rates = grown.figures.map((one) => formatRate(one.perSecond));
  const growth = judged(growthOf(grown).toFixed(2), growthOf(grown) <= growthMax);
  return `| ${[grown.title, ...costs, growth, ...rates].join(" | ")} |`;
}
