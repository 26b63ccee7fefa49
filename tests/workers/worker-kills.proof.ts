import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { readMasterKey } from "../../src/host/master-key.ts";
import { realClock } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { encryptionOfTests } from "../harness/test-encryption.ts";
import { runWorkerKills } from "./worker-kills.ts";

/** Set by `npm run proof` for its long form. */
const kills = Number(process.env["ETAGERE_WORKER_KILLS"] ?? 4);
const requestsPerKill = Number(process.env["ETAGERE_WORKER_KILL_REQUESTS"] ?? 200);
const record = process.env["ETAGERE_WORKER_KILL_RECORD"];
const seed = Number(process.env["ETAGERE_KILL_SEED"] ?? 1);

it(`1 durable: keeps all writes over ${kills} kills of one of two workers`, async () => {
  const location = await mkdtemp(join(tmpdir(), "etagere-worker-kill-"));
  const clientsPerWorkload = 3;
  const options = { location, kills, requestsPerKill, clientsPerWorkload, seed };
  const result = await runWorkerKills(options);
  const { encryption } = encryptionOfTests();
  const master = encryption === undefined ? undefined : await readMasterKey(encryption);
  const folder = await checkFolder({ location, clock: realClock(), log: silentLog, master });
  const problems = [...result.problems, ...folder.problems];
  const text =
    `${result.kills} kills of one of 2 workers, seed ${seed}: ` +
    `${result.acknowledgedWrites} acknowledged writes, ${problems.length} lost or torn; ` +
    `${result.continuedWrites} responses between a kill and the replacement`;
  console.log(text);
  expect(problems).toEqual([]);
  if (record !== undefined) writeFileSync(record, `${text}\n`);
  await rm(location, { recursive: true, force: true });
}, 7_200_000);
