import { existsSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { storePath } from "../../src/commands/folder-check/open-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { StartRefused } from "../../src/host/refused.ts";
import { silentLog } from "../harness/silent-log.ts";
import { rawClient } from "../harness/raw-client.ts";
import { freePorts } from "../harness/server.ts";
import type { Clients } from "../kill/kill-workload.ts";
import { killWorkloads } from "../kill/kill-run.ts";
import { randomFrom, type Random } from "../verify/random.ts";
import { accounts, treeAccount } from "../verify/wire.ts";
import { record, type RecordedObject, type Recording } from "./recording.ts";
import { countEvents, countUntil, Replay } from "./replay.ts";
import { readTrace } from "./trace.ts";

/** Set by `npm run proof` for its long form. */
const cuts = Number(process.env["ETAGERE_CUTS"] ?? 40);
const stepsEach = Number(process.env["ETAGERE_CUT_STEPS"] ?? 30);
const seed = Number(process.env["ETAGERE_CUT_SEED"] ?? 1);
const resultFile = process.env["ETAGERE_CUT_RECORD"];

let folder: string;
let trace: string;
let location: string;
let recording: Recording;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-power-"));
  trace = join(folder, "trace");
  location = join(folder, "data");
  recording = await record({ location, trace }, killWorkloads, stepsEach);
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** All problems found after each cut. */
async function problemsOfCuts(
  places: readonly number[],
  random: Random,
  replay: Replay,
  keptChances: readonly number[] = [0, 0.2, 0.5, 0.8, 1],
): Promise<{ readonly problems: readonly string[]; readonly objects: number }> {
  const problems: string[] = [];
  let objects = 0;
  let at = 0;
  for await (const event of readTrace(trace)) {
    replay.play(event);
    at += 1;
    if (!places.includes(at)) continue;
    const image = join(folder, `cut-${at}`);
    replay.disk.cut(image, random, random.pick(keptChances), nameAfterBoot);
    const answered = (answer: string): boolean => replay.answered.has(answer);
    const found = await problemsIn(image, answered);
    problems.push(...found.map((problem) => `cut at ${at}: ${problem}`));
    objects += recording.objects.filter(({ steps }) => answered(steps[0]?.answer ?? "")).length;
    await rm(image, { recursive: true, force: true });
  }
  return { problems, objects };
}

/** Volatile files have the boot id in their name, and a power loss starts a new boot. */
function nameAfterBoot(path: string): string {
  return path.replace(/ephemeral-[^/]*\.mdb/, "ephemeral-earlier.mdb");
}

/** A refused start is a problem as well: no loss of power may leave files that a server refuses. */
async function problemsIn(
  image: string,
  answered: (answer: string) => boolean,
): Promise<readonly string[]> {
  try {
    return await problemsOnImage(image, answered);
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    return [error.message];
  }
}

async function problemsOnImage(
  image: string,
  answered: (answer: string) => boolean,
): Promise<readonly string[]> {
  const isThere = existsSync(storePath(image)) && statSync(storePath(image)).size > 0;
  const report = isThere
    ? await checkFolder({ location: image, clock: realClock(), log: silentLog })
    : undefined;
  const server = await start({ ...freePorts, location: image, accounts });
  const { blob = "", table = "", queue = "", file = "" } = server.urls;
  const clients: Clients = {
    blob: rawClient(blob),
    tree: rawClient(blob, undefined, treeAccount),
    table: rawClient(table),
    queue: rawClient(queue),
    file: rawClient(file),
    fileUrl: file,
    smbUrl: server.smbUrl,
  };
  const lost: string[] = [];
  for (const object of answered(recording.ready) ? recording.objects : []) {
    const problem = await lostIn(object, clients, answered);
    if (problem !== undefined) lost.push(problem);
  }
  await server.stop();
  return [...(report?.problems ?? []), ...lost];
}

/** Every object has the last acknowledged state, or that of the request after it. */
async function lostIn(
  { workload, key, steps }: RecordedObject,
  clients: Clients,
  answered: (answer: string) => boolean,
): Promise<string | undefined> {
  const last = steps.findLastIndex(({ answer }) => answered(answer));
  const allowed = [steps[last]?.state, steps[last + 1]?.state];
  const isState = await workload.look(clients, key).catch(() => () => false);
  if (allowed.slice(0, last + 1 < steps.length ? 2 : 1).some((state) => isState(state))) return;
  return `${workload.name} ${key} is none of ${allowed.join(", ")}`;
}

const promise = "losses of power lose nothing that was acknowledged, and tear nothing";

it(`1 durable: ${cuts} ${promise}`, async () => {
  const events = await countEvents(trace);
  const random = randomFrom(seed);
  // One cut in five is during the first start, which is short.
  const starting = await countUntil(trace, recording.ready);
  const places = Array.from(
    { length: cuts },
    (_, index) => 1 + random.below(index % 5 === 0 ? starting : events),
  );
  const { problems, objects } = await problemsOfCuts(places, random, new Replay(location));
  const text =
    `${cuts} losses of power at places out of ${events}, seed ${seed}: ${objects} times an ` +
    `object was held to what had been acknowledged, ${problems.length} lost, torn or unsound`;
  console.log(text);
  if (resultFile !== undefined) writeFileSync(resultFile, `${text}\n`);
  expect(problems).toEqual([]);
}, 3_600_000);

it("1 durable: a server that responds before it flushes is detected", async () => {
  const events = await countEvents(trace);
  const places = [Math.floor(events / 2), Math.floor((2 * events) / 3)];
  const forgetful = new Replay(location, { forgetsSyncs: true });
  const { problems } = await problemsOfCuts(places, randomFrom(seed), forgetful, [0]);
  expect(problems.join("\n")).toMatch(/is none of|is truncated/);
}, 600_000);
