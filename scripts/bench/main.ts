// `npm run bench`: our server, Azurite and plain servers of Node under the same load, on disk, on
// the same machine in the same minute.
import { mkdirSync, rmSync } from "node:fs";
import { installAzurite, type InstalledAzurite } from "./azurite.ts";
import { compare } from "./compare.ts";
import type { Participant } from "./compare.ts";
import { measureGrowth } from "./growth.ts";
import { parseOptions, usage } from "./options.ts";
import type { BenchOptions } from "./options.ts";
import { anonymousMegabytesOf } from "./process-figures.ts";
import { printResult, printSummary } from "./report/print.ts";
import { writeResults } from "./report/write.ts";
import { machineNow, resultOf } from "./results.ts";
import type { Result } from "./results.ts";
import { scenarios } from "./scenarios/all.ts";
import { siteOf, type Scenario } from "./scenarios/scenario.ts";
import { makeCertificate, newFolder, startAzurite, startEtagere, startPlain } from "./servers.ts";
import type { Certificate, Server } from "./servers.ts";

/** Servers that live for the whole run, plain and over TLS. */
interface Field {
  readonly servers: readonly Server[];
  readonly tls: Certificate | undefined;
}

const words = process.argv.slice(2);
if (words.includes("--help")) {
  console.log(usage);
  process.exit(0);
}
const options = parseOptions(words);
mkdirSync(options.out, { recursive: true });
const began = performance.now();
if (options.growth) await measureGrowth(options);
else await compareAll(options);
console.log(`after ${((performance.now() - began) / 60_000).toFixed(1)} minutes`);

async function compareAll({ only, azurite, program }: BenchOptions): Promise<void> {
  const wanted = scenarios.filter(({ name }) => only.test(name));
  const peer = azurite ? installAzurite() : undefined;
  const results: Result[] = [];
  const isPlain = ({ secure, hierarchical }: Scenario) => secure !== true && hierarchical !== true;
  const open = await openField(undefined, peer);
  let anonymousMegabytes = Number.NaN;
  try {
    results.push(...(await compareOn(open, wanted.filter(isPlain))));
    anonymousMegabytes = anonymousMegabytesOf(open.servers[0]?.pid ?? 0);
  } finally {
    await Promise.all(open.servers.map((server) => server.stop()));
  }
  results.push(...(await compareWithDirectories(wanted)));
  results.push(...(await compareSecurely(wanted, peer)));
  const whole = {
    machine: machineNow(),
    load: options.load,
    azurite: peer?.version,
    results,
    anonymousMegabytes,
  };
  printSummary(whole);
  writeResults(options.out, whole);

  async function openField(tls: Certificate | undefined, other: InstalledAzurite | undefined) {
    const servers = [await startEtagere({ program, tls })];
    if (other !== undefined) servers.push(await startAzurite({ ...other, tls }));
    return { servers, tls };
  }

  async function compareWithDirectories(all: readonly Scenario[]) {
    const chosen = all.filter((scenario) => scenario.hierarchical === true);
    if (chosen.length === 0) return [];
    const server = await startEtagere({ program, hierarchical: true });
    try {
      return await compareOn({ servers: [server], tls: undefined }, chosen);
    } finally {
      await server.stop();
    }
  }

  async function compareSecurely(all: readonly Scenario[], other: InstalledAzurite | undefined) {
    const secure = all.filter((scenario) => scenario.secure === true);
    if (secure.length === 0) return [];
    const folder = newFolder("certificate");
    const tls = makeCertificate(folder);
    const field = tls === undefined ? undefined : await openField(tls, other);
    try {
      return field === undefined ? [] : await compareOn(field, secure);
    } finally {
      await Promise.all(field?.servers.map((server) => server.stop()) ?? []);
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

async function compareOn(field: Field, wanted: readonly Scenario[]): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const scenario of wanted) {
    const plain =
      scenario.plain === undefined ? undefined : await startPlain(scenario.plain, field.tls);
    try {
      const figures = await compare(scenario, participantsOf(scenario, field, plain), options.load);
      const result = resultOf(scenario, figures);
      printResult(result);
      results.push(result);
    } finally {
      await plain?.stop();
    }
  }
  return results;
}

function participantsOf(
  scenario: Scenario,
  { servers }: Field,
  plain: Server | undefined,
): readonly Participant[] {
  const able = servers.filter(({ address }) => scenario.azurite || address.name !== "azurite");
  const site = siteOf(scenario);
  const all = plain === undefined ? able : [...able, plain];
  return all.map((server) => ({ server, site, filled: false }));
}
