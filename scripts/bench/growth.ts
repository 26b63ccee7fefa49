import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { compare } from "./compare.ts";
import type { Participant } from "./compare.ts";
import { endWithUs } from "./leftovers.ts";
import type { BenchOptions } from "./options.ts";
import { anonymousMegabytesOf } from "./process-figures.ts";
import type { ComparedOperation } from "./report/cost-table.ts";
import { printGrown } from "./report/print-growth.ts";
import { writeGrowth } from "./report/write-growth.ts";
import { machineNow } from "./results.ts";
import { growthScenarios } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { newFolder, startEtagere } from "./servers.ts";
import type { Server } from "./servers.ts";

/** The operation of each service whose `fill` creates the stored objects. */
const fillers = { blob: "put-1k", table: "tbl-get", queue: "q-put", file: "file-create" } as const;

interface Level {
  readonly stored: number;
  readonly folder: string;
  readonly server: Server;
}

/**
 * Measures the same operation on three servers with 1 k, 100 k and 1 M stored objects of each kind,
 * alternating, so that the state of the machine affects all three alike.
 */
export async function measureGrowth(options: BenchOptions): Promise<void> {
  const wanted = growthScenarios.filter(({ name }) => options.only.test(name));
  const counts = [1000, options.storedMax / 10, options.storedMax];
  const levels = await Promise.all(
    counts.map((stored) => openLevel(options.program, stored, wanted)),
  );
  try {
    const grown: ComparedOperation[] = [];
    for (const scenario of wanted) {
      const figures = await compare(scenario, participantsOf(levels), options.load);
      const one = { name: scenario.name, title: scenario.title, figures };
      printGrown(one);
      grown.push(one);
    }
    const stored = levels.map((level) => ({
      stored: level.stored,
      anonymousMegabytes: anonymousMegabytesOf(level.server.pid),
    }));
    writeGrowth(options.out, { machine: machineNow(), load: options.load, stored, grown });
  } finally {
    for (const { server, folder } of levels) {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

async function openLevel(
  program: string,
  stored: number,
  wanted: readonly Scenario[],
): Promise<Level> {
  const folder = newFolder("growth");
  const services = new Set(wanted.map(({ service }) => service));
  const names = [...services].map((service) => fillers[service]);
  await fillFolder([folder, String(stored), ...names]);
  const server = await startEtagere({ program, location: folder });
  const address = { ...server.address, name: `etagere-${stored}` };
  return { stored, folder, server: { ...server, address } };
}

function fillFolder(words: readonly string[]): Promise<void> {
  const program = join(import.meta.dirname, "growth-fill.js");
  const child = spawn(process.execPath, [program, ...words], { stdio: "inherit" });
  endWithUs(child);
  return new Promise((filled, failed) => {
    child.once("exit", (code) =>
      code === 0 ? filled() : failed(new Error(`filling ended with code ${String(code)}`)),
    );
  });
}

function participantsOf(levels: readonly Level[]): readonly Participant[] {
  return levels.map(({ server, stored }) => ({
    server,
    site: { name: "stored", stored },
    filled: true,
  }));
}
