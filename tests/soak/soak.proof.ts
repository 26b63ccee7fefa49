import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { expect, it } from "vitest";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { startChild, type ChildServer } from "../harness/child-server.ts";
import { clientsOf } from "../kill/clients-of.ts";
import type { Clients } from "../kill/kill-workload.ts";
import { killWorkloads } from "../kill/kill-run.ts";
import { accountsOption } from "../verify/accounts-file.ts";
import { deleteAll, runLoad } from "./load.ts";
import { earlyAndLate, extentBytesIn, takeSample, type Sample } from "./samples.ts";

/** Set by `npm run proof` for its long form. */
const seconds = Number(process.env["ETAGERE_SOAK_SECONDS"] ?? 10);
const record = process.env["ETAGERE_SOAK_RECORD"];
const isLong = seconds >= 120;
const samplesMax = 60;
const mebibyte = 1024 * 1024;
const reclaimSecondsMax = 120;
const pausesBetweenChecks = 40;
/** The current extent is compacted only after it reached this length or was sealed. */
const openBytesMax = 17 * mebibyte;

/** Memory, descriptors and latency stay constant, and space is released. */
it(`has constant memory and disk use under ${seconds} s of clients of all services`, async () => {
  const location = await mkdtemp(join(tmpdir(), "etagere-soak-"));
  const server = await startChild(location, ["--silent", accountsOption(location)]);
  const clients = clientsOf(server);
  for (const workload of killWorkloads) await workload.setUp(clients);
  const { samples, acknowledged } = await soak(server, location, clients);
  await deleteAll(clients);
  const { report, left } = await reclaimed(location);
  await server.kill("SIGTERM");
  const text = describeRun(samples, acknowledged, left);
  console.log(text);
  if (record !== undefined) writeFileSync(record, `${text}\n`);
  await rm(location, { recursive: true, force: true });
  expect(report.problems).toEqual([]);
  expect(report.bytesRead).toBe(0);
  expect(left).toBeLessThan(openBytesMax);
  expectFlat(samples);
}, 3_600_000);

async function soak(server: ChildServer, location: string, clients: Clients) {
  const began = performance.now();
  const isOver = (): boolean => performance.now() - began > 1000 * seconds;
  const every = (1000 * seconds) / samplesMax;
  const samples: Sample[] = [];
  let durations: number[] = [];
  const onDone = (milliseconds: number): void => {
    durations.push(milliseconds);
    if (performance.now() - began < every * (samples.length + 1)) return;
    samples.push(takeSample(server.pid, location, durations));
    durations = [];
  };
  const running = await runLoad(killWorkloads, clients, { isOver, onDone });
  const acknowledged = running.reduce((sum, each) => sum + each.acknowledgedWrites, 0);
  return { samples, acknowledged };
}

function expectFlat(samples: readonly Sample[]): void {
  const memory = earlyAndLate(samples, "residentBytes");
  const descriptors = earlyAndLate(samples, "descriptors");
  const latency = earlyAndLate(samples, "medianMilliseconds");
  const store = earlyAndLate(samples, "storeBytes");
  // A short run ends before the process reaches a steady state, and shares the machine with other
  // tests: it only detects unbounded growth.
  const growthMax = isLong ? 1.25 : 3;
  expect(memory.late).toBeLessThan(growthMax * memory.early + 32 * mebibyte);
  expect(descriptors.late).toBeLessThan(descriptors.early + 64);
  if (isLong) expect(latency.late).toBeLessThan(1.5 * latency.early + 5);
  expect(store.late).toBeLessThan(growthMax * store.early + 16 * mebibyte);
}

function describeRun(samples: readonly Sample[], acknowledged: number, left: number): string {
  const line = (name: string, figure: keyof Sample, unit: number, digits = 0): string => {
    const { early, late } = earlyAndLate(samples, figure);
    return `${name} ${(early / unit).toFixed(digits)} → ${(late / unit).toFixed(digits)}`;
  };
  return [
    `${seconds} s, ${acknowledged} acknowledged writes; in the second quarter → in the last:`,
    line("resident memory, MiB:", "residentBytes", mebibyte),
    line("descriptors:", "descriptors", 1),
    line("median latency, ms:", "medianMilliseconds", 1, 1),
    line("99th percentile, ms:", "slowestMilliseconds", 1, 1),
    line("store, MiB:", "storeBytes", mebibyte),
    line("extents, MiB:", "extentBytes", mebibyte),
    `extents after everything was deleted, MiB: ${(left / mebibyte).toFixed(1)}`,
  ].join("\n");
}

/**
 * Space is released in the background after the last reader. Checking the folder counts as a
 * reader, so it is not done continuously.
 */
async function reclaimed(location: string) {
  const began = performance.now();
  for (;;) {
    const report = await checkFolder({ location, clock: realClock(), log: silentLog });
    const left = extentBytesIn(location);
    const isOver = performance.now() - began > 1000 * reclaimSecondsMax;
    if (isOver || (report.bytesRead === 0 && left < openBytesMax)) return { report, left };
    for (let pause = 0; pause < pausesBetweenChecks; pause += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
