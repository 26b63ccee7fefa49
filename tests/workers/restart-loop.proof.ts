import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startWorkers, type WorkerServer } from "./worker-server.ts";

const folder = temporaryFolder();
const healthy = "{}";
const broken = "{ broken";
/** More failed starts in a row than the supervisor accepts when no worker serves. */
const failedStarts = 6;

/** Waits until standard error contains `text` this many times. */
async function untilLogged(server: WorkerServer, text: string, count = 1): Promise<void> {
  while (server.errors().split(text).length <= count) {
    if (server.child.stderr !== null) await once(server.child.stderr, "data");
  }
}

it("keeps its workers if new ones do not start, and ends if no worker serves any more", async () => {
  const config = join(folder, "accounts.json");
  writeFileSync(config, healthy);
  const server = await startWorkers(join(folder, "loop"), `--config=${config}`);
  /** Those of two workers that serve: one that only starts has no figures. */
  const pids = async (): Promise<readonly number[]> => {
    const { processes } = await server.workersUntil(
      ({ processes: found }) => found.length === 2 && found.every((each) => each.residentBytes > 0),
    );
    return processes.map(({ pid }) => pid);
  };
  const first = await pids();
  writeFileSync(config, broken);
  server.child.kill("SIGHUP");
  await untilLogged(server, "rolling restart stopped");
  expect(await pids()).toEqual(first);

  // One worker serves although no other one can be started, until the cause is corrected.
  process.kill(first[1] ?? 0, "SIGKILL");
  await untilLogged(server, "worker did not start; trying again after a pause", failedStarts);
  expect(server.errors()).toContain("is not valid JSON");
  expect(server.child.exitCode).toBe(null);
  expect((await fetch(`${server.urlOf("admin")}/readyz`)).status).toBe(200);
  writeFileSync(config, healthy);
  const second = await pids();
  expect(second).toContain(first[0]);

  writeFileSync(config, broken);
  const closed = once(server.child, "close");
  for (const pid of second) process.kill(pid, "SIGKILL");
  const [code] = (await closed) as [number];
  expect(code).toBe(1);
  expect(server.errors()).toMatch(/^etagere: workers ended 5 times within 1 s of their start/m);
});
