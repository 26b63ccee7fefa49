import { blobScenarios, secureScenarios } from "./blobs.ts";
import { blockScenarios } from "./blocks.ts";
import { concurrencyScenarios } from "./concurrency.ts";
import { dfsScenarios } from "./dfs.ts";
import { fileScenarios } from "./files.ts";
import { queueCycle, queueScenarios } from "./queues.ts";
import type { Scenario } from "./scenario.ts";
import { tableScenarios } from "./tables.ts";

export const scenarios: readonly Scenario[] = [
  ...blobScenarios,
  ...blockScenarios,
  ...concurrencyScenarios,
  ...tableScenarios,
  ...queueScenarios,
  ...fileScenarios,
  ...dfsScenarios,
  ...secureScenarios,
];

/** Operations measured by `--growth`. Operations that add objects come last in their service. */
export const growthScenarios: readonly Scenario[] = [
  ...["get-1k", "mixed", "cas-hot", "cas-1000", "lease", "put-1k"].map(scenarioOf),
  ...["tbl-get", "tbl-merge", "tbl-query-1000"].map(scenarioOf),
  ...["tbl-insert-1pk", "tbl-insert-Npk", "egt-100"].map(scenarioOf),
  queueCycle,
  { ...scenarioOf("q-get-delete"), title: "queue get + delete" },
  scenarioOf("q-put"),
  ...["file-get-4k", "file-put-4k", "file-create"].map(scenarioOf),
];

export function scenarioOf(name: string): Scenario {
  const found = [...scenarios, queueCycle].find((one) => one.name === name);
  if (found === undefined) throw new Error(`no operation "${name}"`);
  return found;
}
