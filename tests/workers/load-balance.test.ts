import { Agent } from "node:http";
import { afterAll, expect, it } from "vitest";
import { rawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startWorkers, type WorkerServer } from "./worker-server.ts";

const connectionCount = 8;
const blobCount = 300;
const timeoutMilliseconds = 180_000;
const folder = temporaryFolder();
const list = { method: "GET", path: "/listed?restype=container&comp=list" };

let server: WorkerServer | undefined;
// After a failure the server still runs.
afterAll(() => server?.child.kill("SIGKILL"));

it(
  "connections that one worker has accepted are divided among the workers",
  async () => {
    server = await startWorkers(folder, "--silent");
    const agent = new Agent({ keepAlive: true, maxSockets: connectionCount });
    const blob = rawClient(server.urlOf("blob"), agent);
    expect((await blob.send({ method: "PUT", path: "/listed?restype=container" })).status).toBe(
      201,
    );
    const headers = { "x-ms-blob-type": "BlockBlob" };
    for (let index = 0; index < blobCount; index += 1) {
      await blob.send({ method: "PUT", path: `/listed/${index}`, headers, body: "a" });
    }
    agent.destroy();
    const [main, other] = (await server.workers()).processes;
    // While this worker is stopped, the main worker accepts all connections.
    process.kill(other?.pid ?? 0, "SIGSTOP");
    const send = (): Promise<number> => blob.send(list).then(({ status }) => status);
    const opened = await Promise.all(Array.from({ length: connectionCount }, send));
    process.kill(other?.pid ?? 0, "SIGCONT");
    expect(new Set(opened)).toEqual(new Set([200]));
    const before = await requestsOf(server, other?.pid);
    const load = { isEnough: false };
    const statuses = new Set<number>();
    const run = async (): Promise<void> => {
      while (!load.isEnough) statuses.add(await send());
    };
    const running = Promise.all(Array.from({ length: connectionCount }, run));
    await server.workersUntil(({ processes }) => {
      const found = processes.find(({ pid }) => pid === other?.pid);
      return (found?.requests ?? 0) > before + 10 * connectionCount;
    });
    load.isEnough = true;
    await running;
    agent.destroy();
    expect(statuses).toEqual(new Set([200]));
    expect((await server.workers()).processes[0]?.pid).toBe(main?.pid);
    expect(await server.end()).toBe(0);
  },
  timeoutMilliseconds,
);

async function requestsOf(from: WorkerServer, worker: number | undefined): Promise<number> {
  const { processes } = await from.workers();
  return processes.find(({ pid }) => pid === worker)?.requests ?? 0;
}
