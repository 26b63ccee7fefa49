import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startWorkers } from "./worker-server.ts";

const folder = temporaryFolder();

it("keeps its workers if new ones do not start, and ends if none can be replaced", async () => {
  const config = join(folder, "accounts.json");
  writeFileSync(config, "{}");
  const server = await startWorkers(join(folder, "loop"), `--config=${config}`);
  const { processes } = await server.workers();
  writeFileSync(config, "{ broken");
  server.child.kill("SIGHUP");
  while (!server.errors().includes("rolling restart stopped")) {
    if (server.child.stderr !== null) await once(server.child.stderr, "data");
  }
  const pidsOf = (each: typeof processes): readonly number[] => each.map(({ pid }) => pid);
  const { processes: kept } = await server.workersUntil((found) => found.processes.length === 2);
  expect(pidsOf(kept)).toEqual(pidsOf(processes));
  const closed = once(server.child, "close");
  process.kill(processes[1]?.pid ?? 0, "SIGKILL");
  const [code] = (await closed) as [number];
  expect(code).toBe(1);
  expect(server.errors()).toMatch(/^etagere: workers ended 5 times within 1 s of their start/m);
  expect(server.errors()).toContain("is not valid JSON");
});
