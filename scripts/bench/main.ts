import { parseArgs } from "node:util";
import { measure } from "./measure.ts";
import type { Measured } from "./measure.ts";
import { scenarios } from "./operations.ts";
import type { Scenario } from "./operations.ts";
import { startAzurite, startEtagere } from "./servers.ts";
import type { Server } from "./servers.ts";

/**
 * Etagere beside Azurite under the same load, both on disk, on the same machine in the same minute.
 * They take turns, because the speed of a machine drifts; the ratio of the medians is the result.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string", default: "." },
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "16,64" },
    alone: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connectionCounts = values.connections.split(",").map(Number);
const wanted = new RegExp(values.only);

const servers = values.alone
  ? [await startEtagere()]
  : [await startEtagere(), await startAzurite()];
try {
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (wanted.test(name)) await compare(name, scenario);
  }
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

async function compare(name: string, scenario: Scenario): Promise<void> {
  for (const connections of connectionCounts) {
    const prefix = `${name}-${connections}`;
    const prepared = [];
    for (const server of servers) {
      prepared.push({
        server,
        step: await scenario(server.target, prefix),
        runs: [] as Measured[],
      });
    }
    for (let round = 0; round < rounds; round++) {
      for (const { server, step, runs } of prepared) {
        runs.push(await measure(server.target, step, { connections, seconds }));
      }
    }
    const medians = prepared.map(({ server, runs }) => report(prefix, server, runs));
    const [ours, theirs] = medians;
    if (ours !== undefined && theirs !== undefined && theirs > 0) {
      console.log(`${prefix.padEnd(14)} ratio ${(ours / theirs).toFixed(1)}`);
    }
  }
}

/** Prints the round in the middle and returns its rate. */
function report(prefix: string, { target }: Server, runs: readonly Measured[]): number {
  const sorted = runs.toSorted((a, b) => a.perSecond - b.perSecond);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) return 0;
  const { perSecond, medianMilliseconds, p99Milliseconds, errors, firstError } = middle;
  const figures = [
    `${perSecond.toFixed(0).padStart(7)}/s`,
    `median ${medianMilliseconds.toFixed(2)} ms`,
    `p99 ${p99Milliseconds.toFixed(2)} ms`,
    `${middle.residentMegabytes} MB`,
    ...(errors > 0 ? [`${errors} errors: ${firstError ?? ""}`] : []),
  ];
  console.log(`${prefix.padEnd(14)} ${target.name.padEnd(8)} ${figures.join("  ")}`);
  return perSecond;
}
