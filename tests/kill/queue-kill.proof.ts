import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { startChild, type ChildServer } from "../harness/child-server.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";
import { brokenPromises } from "./queue-history.ts";
import { queue, QueueWorkload } from "./queue-workload.ts";

const kills = Number(process.env["ETAGERE_QUEUE_KILLS"] ?? 3);
const producers = 4;
const consumers = 8;
const putsPerRound = 300;
const emptyGetsMax = 20_000;

/** Runs all clients until enough messages were put, then stops them in the middle of a request. */
async function burst(workload: QueueWorkload, clients: readonly RawClient[]): Promise<unknown> {
  const enough = workload.acknowledgedPuts + putsPerRound;
  const clientOf = (index: number) => clients[index % clients.length]!;
  return new Promise((resolve) => {
    const isOver = () => {
      if (workload.acknowledgedPuts < enough) return false;
      resolve(undefined);
      return false;
    };
    const gone = () => undefined;
    for (let index = 0; index < producers; index += 1) {
      void workload.produce(clientOf(index), isOver).catch(gone);
    }
    for (let index = 0; index < consumers; index += 1) {
      void workload.consume(clientOf(index), isOver).catch(gone);
    }
  });
}

/** Receives and deletes until the queue is empty, invisible messages included. */
async function drain(workload: QueueWorkload, client: RawClient): Promise<void> {
  for (let round = 0; round < emptyGetsMax; round += 1) {
    const messages = await workload.get(client);
    for (const message of messages) await workload.remove(client, message);
    if (messages.length > 0) continue;
    const answer = await client.send({ method: "GET", path: `${queue}?comp=metadata` });
    if (answer.headers["x-ms-approximate-messages-count"] === "0") return;
  }
  throw new Error("messages remain that cannot be received");
}

/** 5 queue: never lost, never two consumers within one visibility timeout, no delete undone. */
it.each([1, 2])(
  `delivers correctly over ${kills} kills with %i processes on one location`,
  async (processes) => {
    const location = await mkdtemp(join(tmpdir(), "etagere-queue-"));
    const servers: ChildServer[] = [];
    const startAll = async () => {
      while (servers.length < processes) servers.push(await startChild(location));
    };
    const endAll = (signal: "SIGKILL" | "SIGTERM") =>
      Promise.all(servers.splice(0).map((server) => server.kill(signal)));
    const clients = () => servers.map(({ queueUrl }) => rawClient(queueUrl));
    const workload = new QueueWorkload();
    try {
      await startAll();
      await clients()[0]!.send({ method: "PUT", path: queue });
      for (let round = 0; round < kills; round += 1) {
        await burst(workload, clients());
        await endAll("SIGKILL");
        const { problems } = await checkFolder({ location, clock: realClock(), log: silentLog });
        expect(problems).toEqual([]);
        await startAll();
      }
      await drain(workload, clients()[0]!);
    } finally {
      await endAll("SIGTERM");
      await rm(location, { recursive: true, force: true });
    }
    expect(brokenPromises(workload.events)).toEqual([]);
    expect(workload.acknowledgedPuts).toBeGreaterThanOrEqual(kills * putsPerRound);
  },
  600_000,
);
