/**
 * Our own checkers on stored histories, for `npm run verify -- --foreign`: with `--judge FOLDER`
 * one JSON line per file and workload; with `--planted FOLDER` a history of each planted bug.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { historyText, parseHistoryText } from "./history-file.ts";
import { unavailableAsUnknown } from "./history.ts";
import type { Lie } from "./lying-proxy.ts";
import { allPlantedBugs, recordWith } from "./planted-run.ts";
import { judge } from "./verdict.ts";
import type { Workload } from "./workload.ts";
import { workloads } from "./workloads/all.ts";
import { ownWorkloads } from "../simulate/plan.ts";

const { values } = parseArgs({
  options: {
    judge: { type: "string" },
    planted: { type: "string" },
    /** How many histories of each planted bug: clients meet in the critical moment by chance. */
    runs: { type: "string", default: "3" },
  },
});

if (values.planted !== undefined) await recordPlanted(values.planted, Number(values.runs));
if (values.judge !== undefined) judgeAll(values.judge);
process.exit(0);

async function recordPlanted(folder: string, runs: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const honest: Lie = (passing, forward) => forward(passing);
  for (const workload of workloads) {
    await record(workload, { folder, lie: honest, run: 0 });
    for (const { bug, lie } of allPlantedBugs.filter((one) => one.workload === workload.name)) {
      for (let run = 0; run < runs; run += 1)
        await record(workload, { folder, lie: lie(), run, bug });
    }
  }
}

interface Recording {
  readonly folder: string;
  readonly lie: Lie;
  readonly run: number;
  readonly bug?: string;
}

async function record(workload: Workload, { folder, lie, run, bug }: Recording): Promise<void> {
  const operations = await recordWith(workload, lie, run);
  const planted = bug === undefined ? {} : { planted: bug };
  const about = { source: "planted", seed: run, complete: true, ...planted };
  const name = `${workload.name} ${bug ?? "honest"} ${run}`.replaceAll(/\W+/g, "-");
  writeFileSync(join(folder, `${name}.jsonl`), historyText(about, operations, workloads));
}

function judgeAll(folder: string): void {
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".jsonl"))) {
    const stored = parseHistoryText(readFileSync(join(folder, file), "utf8"));
    const isCluster = stored.header.source === "cluster";
    const operations = isCluster ? unavailableAsUnknown(stored.operations) : stored.operations;
    const present = new Set(operations.map(({ workload }) => workload));
    const known = [...workloads, ...ownWorkloads].filter(({ name }) => present.has(name));
    for (const { workload, problems } of judge(known, operations)) {
      const [first = ""] = problems;
      const verdict = problems.length === 0 ? "ok" : "violation";
      console.log(JSON.stringify({ file, workload, verdict, problems: problems.length, first }));
    }
  }
}
