import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { killWorkloads, runKills, type KillRunResult } from "./kill-run.ts";

/** Set by `npm run proof` for its long form. */
const kills = Number(process.env["ETAGERE_KILLS"] ?? 4);
const requestsPerKill = Number(process.env["ETAGERE_KILL_REQUESTS"] ?? 200);
const record = process.env["ETAGERE_KILL_RECORD"];
const seed = Number(process.env["ETAGERE_KILL_SEED"] ?? 1);

/** 1 durable: acknowledged writes survive SIGKILL; others are whole or absent. */
it.each([1, 2])(
  `survives ${kills} kills under clients of all services, with %i processes on one folder`,
  async (servers) => {
    const location = await mkdtemp(join(tmpdir(), "etagere-kill-"));
    const share = kills / 2;
    const onRound = kills > 10 ? (line: string): void => console.log(line) : () => undefined;
    const options = { location, kills: share, requestsPerKill, servers, seed, onRound };
    const result = await runKills(options);
    const text = describeResult(servers, result);
    console.log(text);
    expect(result.problems).toEqual([]);
    expect([...result.byWorkload.keys()]).toEqual(killWorkloads.map(({ name }) => name));
    if (record !== undefined) writeFileSync(`${record}-${servers}.txt`, `${text}\n`);
    await rm(location, { recursive: true, force: true });
  },
  7_200_000,
);

function describeResult(servers: number, result: KillRunResult): string {
  const { kills: done, acknowledgedWrites, byWorkload: byDoor, lastCheck, problems } = result;
  const processes = servers === 1 ? "1 process" : `${servers} processes`;
  return [
    `${processes} on one folder, seed ${seed}: ${done} kills, ` +
      `${acknowledgedWrites} acknowledged writes, ${problems.length} lost or torn`,
    [...byDoor].map(([name, writes]) => `${name} ${writes}`).join(", "),
    `the folder was checked after every kill; the last time ${lastCheck?.extents} extents, ` +
      `${lastCheck?.bytesRead} bytes`,
  ].join("\n");
}
