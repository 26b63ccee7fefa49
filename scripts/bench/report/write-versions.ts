import type { Rounds } from "../compare.ts";
import type { Machine } from "../results.ts";
import { costTable, type ComparedOperation } from "./cost-table.ts";
import { loadText, machineText } from "./tables.ts";
import { jsonOf, write, writeSection } from "./write.ts";

/** The same server on several versions of Node. */
export interface VersionFigures {
  /** Its version of Node is that of the load generator. */
  readonly machine: Machine;
  readonly load: Rounds;
  readonly versions: readonly { readonly version: string; readonly anonymousMegabytes: number }[];
  /** `figures` of each has an entry per version, in the same order. */
  readonly operations: readonly ComparedOperation[];
}

export function writeVersions(folder: string, whole: VersionFigures): void {
  const json = jsonOf(whole);
  write(folder, "node-versions.json", json);
  writeSection(folder, "node-versions", versionsText(JSON.parse(json) as VersionFigures));
  console.log(`written to ${folder}`);
}

/** The section of the benchmark page on versions of Node, in Markdown. */
export function versionsText({ machine, load, versions, operations }: VersionFigures): string {
  const names = versions.map(({ version }) => version);
  const memory = versions.map(
    ({ version, anonymousMegabytes }) => `${anonymousMegabytes.toFixed(0)} MB on ${version}`,
  );
  return [
    machineText(machine),
    "CPU per request and steps per second of one server process, by the version of Node that " +
      "runs it; × is the CPU per request on the last version divided by that on the first. The " +
      `load generator always runs on the version in the line above. ${loadText(load)}`,
    costTable(names, operations, (ratio) => `**${ratio.toFixed(2)}**`),
    `Anonymous memory afterwards: ${memory.join(", ")}.`,
  ].join("\n\n");
}
