import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { useInstrumenter } from "@azure/core-tracing";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import {
  QueueServiceClient,
  RestError,
  type QueueClient,
  type ReceivedMessageItem,
} from "@azure/storage-queue";
import { expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { readAdminAddress } from "../../src/server/admin-address.ts";
import { OtlpReceiver } from "../telemetry/otlp-receiver.ts";
import { noTracing } from "../telemetry/no-tracing.ts";
import { startWorkers, type WorkerServer } from "../workers/worker-server.ts";

/** Set by `npm run proof`. */
const seconds = Number(process.env["ETAGERE_ROLLING_SECONDS"] ?? 20);
const clientsPerService = 4;
/** Clients as users configure them, but for pauses, so that the load goes on. */
const retryOptions = { maxTries: 8, maxRetries: 8, retryDelayInMs: 50, maxRetryDelayInMs: 1000 };
const pauseMilliseconds = 1000;

/** Span ids of the requests that were sent since the last kill, and have no span of the server. */
const unjoined = new Set<string>();
const counts = { requests: 0, operations: 0, spans: 0, kills: 0, restarts: 0 };

/** Every attempt of a client is a span of its own, in a trace of its own. */
function traceClients(): void {
  useInstrumenter({
    ...noTracing,
    createRequestHeaders: () => {
      const [trace = "", span = ""] = [16, 8].map((bytes) => randomBytes(bytes).toString("hex"));
      counts.requests += 1;
      unjoined.add(span);
      return { traceparent: `00-${trace}-${span}-01` };
    },
  });
}

/** A step writes a value, reads it again and compares. */
type Step = (value: string) => Promise<void>;

async function blobSteps(connection: string): Promise<readonly Step[]> {
  const service = BlobServiceClient.fromConnectionString(connection, { retryOptions });
  const container = service.getContainerClient("rolling");
  await container.create();
  return Array.from({ length: clientsPerService }, (_, index) => {
    const blob = container.getBlockBlobClient(`blob-${index}`);
    return async (value) => {
      await blob.upload(value, value.length);
      expect((await blob.downloadToBuffer()).toString()).toBe(value);
    };
  });
}

async function tableSteps(connection: string): Promise<readonly Step[]> {
  const options = { retryOptions, allowInsecureConnection: true };
  const table = TableClient.fromConnectionString(connection, "rolling", options);
  await table.createTable();
  return Array.from({ length: clientsPerService }, (_, index) => async (value) => {
    const key = { partitionKey: "p", rowKey: String(index) };
    await table.upsertEntity({ ...key, value }, "Replace");
    expect(await table.getEntity("p", key.rowKey)).toMatchObject({ value });
  });
}

/** Deletes a message. If a worker is killed between the commit and its response, the client repeats
 *  the request and finds no message; a restart must answer what it has committed. */
async function deleteMessage(queue: QueueClient, message: ReceivedMessageItem): Promise<void> {
  const { kills } = counts;
  try {
    await queue.deleteMessage(message.messageId, message.popReceipt);
  } catch (error) {
    const isRepeated = counts.kills > kills;
    const isGone = error instanceof RestError && error.code === "MessageNotFound";
    if (!isRepeated || !isGone) throw error;
  }
}

async function queueSteps(connection: string): Promise<readonly Step[]> {
  const service = QueueServiceClient.fromConnectionString(connection, { retryOptions });
  return Promise.all(
    Array.from({ length: clientsPerService }, async (_, index) => {
      const queue = service.getQueueClient(`rolling-${index}`);
      await queue.create();
      return async (value: string) => {
        await queue.sendMessage(value);
        const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32 });
        // A retried request may have sent a message twice, or hidden one without a response.
        for (const message of receivedMessageItems) await deleteMessage(queue, message);
      };
    }),
  );
}

async function replaced(server: WorkerServer, pids: readonly number[]): Promise<void> {
  await server.workersUntil(
    ({ processes }) =>
      processes.length === 2 && processes.every(({ pid }) => pid !== 0 && !pids.includes(pid)),
  );
}

async function rollingRestart(server: WorkerServer): Promise<void> {
  const { processes } = await server.workers();
  server.child.kill("SIGHUP");
  await replaced(
    server,
    processes.map(({ pid }) => pid),
  );
  counts.restarts += 1;
}

/** Kills the main worker and another one in turn. */
async function killWorker(server: WorkerServer, location: string): Promise<void> {
  const { processes } = await server.workers();
  const main = (await readAdminAddress(location))?.pid;
  const victim = processes.find(({ pid }) => (pid === main) === (counts.kills % 2 === 0));
  counts.kills += 1;
  process.kill(victim?.pid ?? 0, "SIGKILL");
  await replaced(server, [victim?.pid ?? 0]);
}

it(
  `serves without a failed request for ${seconds} s of rolling restarts and kills, fully traced`,
  async () => {
    await using receiver = await OtlpReceiver.start(({ parentSpanId, kind }) => {
      counts.spans += 1;
      if (kind === 2) unjoined.delete(parentSpanId ?? "");
    });
    traceClients();
    const location = await mkdtemp(join(tmpdir(), "etagere-rolling-"));
    const server = await startWorkers(location, "--silent", `--otlp=${receiver.url}`);
    const connection = ["Blob", "Queue", "Table"].reduce(
      (text, name) => `${text}${name}Endpoint=${server.urlOf(name)}/devstoreaccount1;`,
      `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${developmentAccountKey};`,
    );
    const steps = [
      ...(await blobSteps(connection)),
      ...(await tableSteps(connection)),
      ...(await queueSteps(connection)),
    ];
    const load = { isEnough: false };
    const loads = Promise.all(
      steps.map(async (step) => {
        for (; !load.isEnough; counts.operations += 1) await step(randomBytes(300).toString("hex"));
      }),
    );
    const faults = async (): Promise<void> => {
      const end = performance.now() + seconds * 1000;
      while (performance.now() < end) {
        await killWorker(server, location);
        await pause(pauseMilliseconds);
        await rollingRestart(server);
        await pause(pauseMilliseconds);
      }
      // The last spans of a killed worker are lost with it; all later ones must arrive.
      unjoined.clear();
      await pause(pauseMilliseconds);
      await rollingRestart(server);
      await pause(pauseMilliseconds);
      load.isEnough = true;
    };
    try {
      // The first failed request ends the test.
      await Promise.all([loads, faults()]);
    } finally {
      expect(await server.end()).toBe(0);
    }
    console.log(
      `${seconds} s: ${JSON.stringify(counts)}; requests without a span: ${unjoined.size}`,
    );
    expect(server.errors().replaceAll(/^.*"worker ended; replacing it".*\n/gm, "")).toBe("");
    expect(unjoined.size).toBe(0);
    await rm(location, { recursive: true });
  },
  (seconds + 300) * 1000,
);
