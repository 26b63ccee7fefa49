import type { Figures, Rounds } from "../compare.ts";
import { growthMax } from "../goals.ts";
import type { Machine } from "../results.ts";
import { plotGrowth } from "./growth-plot.ts";
import { formatRate } from "./print.ts";
import { judged, loadText, machineText } from "./tables.ts";
import { jsonOf, write, writeSection } from "./write.ts";

/** One operation; `figures` has an entry per number of stored objects, ascending. */
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

/** CPU per request with the most stored objects, divided by that with the fewest. */
export function growthOf({ figures }: Grown): number {
  const first = figures[0]?.cpuMicrosecondsPerRequest ?? Number.NaN;
  return (figures.at(-1)?.cpuMicrosecondsPerRequest ?? Number.NaN) / first;
}

export function writeGrowth(folder: string, whole: Growth): void {
  const json = jsonOf(whole);
  write(folder, "growth.json", json);
  const rounded = JSON.parse(json) as Growth;
  write(folder, "growth.svg", plotGrowth(rounded.grown));
  writeSection(folder, "growth", growthText(rounded));
  console.log(`written to ${folder}`);
}

/** The growth section of the benchmark page, in Markdown. */
export function growthText({ machine, load, stored, grown }: Growth): string {
  const counts = stored.map((one) => one.stored.toLocaleString("en"));
  const names = ["operation", ...counts.map((count) => `CPU µs, ${count}`), "×"];
  const rates = counts.map((count) => `per second, ${count}`);
  const header = `| ${[...names, ...rates].join(" | ")} |`;
  const memory = stored.map(
    (one) => `${one.anonymousMegabytes.toFixed(0)} MB with ${one.stored.toLocaleString("en")}`,
  );
  return [
    machineText(machine),
    `CPU per request and steps per second, by the number of stored objects of each kind. ` +
      `Goal: the CPU per request grows at most × ${growthMax}. ${loadText(load)}`,
    "![CPU per request by number of stored objects](growth.svg)",
    [header, `|---${"|---:".repeat(names.length + rates.length - 1)}|`, ...grown.map(rowOf)].join(
      "\n",
    ),
    missedText(grown),
    `Anonymous memory afterwards: ${memory.join(", ")}.`,
  ].join("\n\n");
}

function missedText(grown: readonly Grown[]): string {
  const missed = grown.filter((one) => growthOf(one) > growthMax);
  if (missed.length === 0) return `All ${grown.length} operations meet the goal.`;
  const names = missed.map(({ title }) => title).join("; ");
  return `**Goal missed** by ${missed.length} of ${grown.length} operations: ${names}.`;
}

function rowOf(grown: Grown): string {
  const costs = grown.figures.map((one) => one.cpuMicrosecondsPerRequest.toFixed(1));
  const rates = grown.figures.map((one) => formatRate(one.perSecond));
  const growth = judged(growthOf(grown).toFixed(2), growthOf(grown) <= growthMax);
  return `| ${[grown.title, ...costs, growth, ...rates].join(" | ")} |`;
}
