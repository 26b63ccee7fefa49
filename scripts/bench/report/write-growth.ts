import type { Rounds } from "../compare.ts";
import { growthMax } from "../goals.ts";
import type { Machine } from "../results.ts";
import { costTable, lastToFirst, type ComparedOperation } from "./cost-table.ts";
import { plotGrowth } from "./growth-plot.ts";
import { judged, loadText, machineText } from "./tables.ts";
import { jsonOf, write, writeSection } from "./write.ts";

export interface Growth {
  readonly machine: Machine;
  readonly load: Rounds;
  readonly stored: readonly { readonly stored: number; readonly anonymousMegabytes: number }[];
  /** `figures` of each has an entry per number of stored objects, ascending. */
  readonly grown: readonly ComparedOperation[];
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
  const memory = stored.map(
    (one) => `${one.anonymousMegabytes.toFixed(0)} MB with ${one.stored.toLocaleString("en")}`,
  );
  return [
    machineText(machine),
    `CPU per request and steps per second, by the number of stored objects of each kind. ` +
      `Goal: the CPU per request grows at most × ${growthMax}. ${loadText(load)}`,
    "![CPU per request by number of stored objects](growth.svg)",
    costTable(counts, grown, (growth) => judged(growth.toFixed(2), growth <= growthMax)),
    missedText(grown),
    `Anonymous memory afterwards: ${memory.join(", ")}.`,
  ].join("\n\n");
}

function missedText(grown: readonly ComparedOperation[]): string {
  const missed = grown.filter((one) => lastToFirst(one) > growthMax);
  if (missed.length === 0) return `All ${grown.length} operations meet the goal.`;
  const names = missed.map(({ title }) => title).join("; ");
  return `**Goal missed** by ${missed.length} of ${grown.length} operations: ${names}.`;
}
