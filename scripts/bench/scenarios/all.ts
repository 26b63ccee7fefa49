import { blobScenarios, secureScenarios } from "./blobs.ts";
import { blockScenarios } from "./blocks.ts";
import { concurrencyScenarios } from "./concurrency.ts";
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
  ...secureScenarios,
];

/** What is looked at with a thousand and with a million objects stored. */
export const growthScenarios: readonly Scenario[] = [
  ...["put-1k", "get-1k", "mixed", "cas-hot", "cas-1000", "lease"].map(scenarioOf),
  ...tableScenarios,
  ...["q-put"].map(scenarioOf),
  queueCycle,
  ...["file-create", "file-put-4k", "file-get-4k"].map(scenarioOf),
];

export function scenarioOf(name: string): Scenario {
  const found = [...scenarios, queueCycle].find((one) => one.name === name);
  if (found === undefined) throw new Error(`there is no operation "${name}"`);
  return found;
}
