import { once } from "node:events";
import { Agent } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inForm } from "../harness/long-form.ts";
import { rawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { runWorkerKills } from "./worker-kills.ts";
import { startWorkers } from "./worker-server.ts";

/** Each test starts up to ten processes. */
const timeoutMilliseconds = 180_000;
const folder = temporaryFolder();
const blockBlob = { "x-ms-blob-type": "BlockBlob" };

it(
  "loses no acknowledged write if a worker is killed",
  async () => {
    const location = join(folder, "kills");
    const kills = inForm(1, 2);
    const options = { kills, requestsPerKill: 60, clientsPerWorkload: 1, seed: 1 };
    const result = await runWorkerKills({ location, ...options });
    expect(result.problems).toEqual([]);
    expect(result).toMatchObject({ kills, exitCode: 0 });
    expect(result.continuedWrites).toBeGreaterThanOrEqual(kills * 60);
  },
  timeoutMilliseconds,
);

it(
  "restarts its workers one after the other without a lost request",
  async () => {
    const server = await startWorkers(join(folder, "rolling"), "--silent");
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const blob = rawClient(server.urlOf("blob"), agent);
    const container = await blob.send({ method: "PUT", path: "/rolling?restype=container" });
    expect(container.status).toBe(201);
    const before = new Set((await server.workers()).processes.map(({ pid }) => pid));
    const statuses = new Map<number, number>();
    const load = { isEnough: false };
    const write = async (client: number): Promise<void> => {
      const path = `/rolling/${client}`;
      while (!load.isEnough) {
        const put = await blob.send({ method: "PUT", path, headers: blockBlob, body: "a" });
        const get = await blob.send({ method: "GET", path });
        for (const { status } of [put, get]) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const writing = Promise.all(Array.from({ length: 8 }, (_, client) => write(client)));
    server.child.kill("SIGHUP");
    const isReplaced = server.workersUntil(
      ({ processes }) => processes.length === 2 && processes.every(({ pid }) => !before.has(pid)),
    );
    await Promise.race([isReplaced, writing]);
    const { restarts } = await server.workers();
    load.isEnough = true;
    await writing;
    agent.destroy();
    expect(new Set(statuses.keys())).toEqual(new Set([200, 201]));
    expect(restarts).toBe(0);
    expect(await server.end()).toBe(0);
  },
  timeoutMilliseconds,
);

it(
  "ends its workers if it is killed",
  async () => {
    const server = await startWorkers(join(folder, "orphans"), "--silent");
    const closed = once(server.child, "close");
    server.child.kill("SIGKILL");
    // The workers have its standard output open: it is closed when the last of them has ended.
    const [, signal] = (await closed) as [null, string];
    expect(signal).toBe("SIGKILL");
  },
  timeoutMilliseconds,
);
