import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { developmentAccountName as account } from "../../src/account/settings.ts";
import { readAdminAddress } from "../../src/server/admin-address.ts";
import { startChild, type ChildServer } from "../harness/child-server.ts";
import { rawClient, type RawAnswer, type RawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { AvroDecoder } from "../verify/avro-reader.ts";
import { EventLedger } from "./event-ledger.ts";

const changes = Number(process.env["ETAGERE_EVENT_CHANGES"] ?? 2000);
const kills = Number(process.env["ETAGERE_EVENT_KILLS"] ?? 3);
const writers = 48;
const blobs = 5000;
const pauseMilliseconds = 50;
/** `fetch` waits 300 s for a response. */
const settleSeconds = 240;
const hoursMax = 3;
const partBytes = 4 * 1024 * 1024;
const readerMebibytesMax = 256;

/** What is killed, in turn: all processes of the server, one worker, and all workers while a
 *  request to the webhook is under way. */
const victims = ["server", "worker", "delivery"] as const;

/** A webhook that marks the events that it gets. */
class Receiver {
  readonly #server: Server;
  /** Called once, before the next request is answered. */
  onNext: (() => void) | undefined;

  constructor(ledger: EventLedger) {
    this.#server = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const [event] = JSON.parse(Buffer.concat(chunks).toString()) as readonly [
          { readonly data: { readonly clientRequestId: string } },
        ];
        ledger.deliver(Number(event.data.clientRequestId));
        const { onNext } = this;
        this.onNext = undefined;
        if (onNext === undefined) outgoing.end();
        else onNext();
      });
    });
  }

  async open(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function workersOf({ pid }: ChildServer): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

const chunkForm = /<Name>([^<]*)<\/Name>.*?<Content-Length>(\d+)</gs;

class Run {
  readonly ledger = new EventLedger(changes + kills * 10_000 + 100_000);
  readonly #receiver = new Receiver(this.ledger);
  readonly #location = temporaryFolder();
  #flags: readonly string[] = [];
  #server!: ChildServer;
  #client!: RawClient;
  #restarting: Promise<void> | undefined;
  #killed = 0;

  async start(): Promise<void> {
    const webhook = await this.#receiver.open();
    const config = `${this.#location}-accounts.json`;
    const subscriptions = { hook: { destination: { webhook } } };
    const accounts = { [account]: { changeFeed: true, subscriptions } };
    writeFileSync(config, JSON.stringify({ accounts }));
    const hooks = `--eventWebhooks=${webhook}`;
    this.#flags = ["--silent", "--workers=2", hooks, `--config=${config}`];
    await this.#startServer();
    await this.#client.send({ method: "PUT", path: "/box?restype=container" });
  }

  async #startServer(): Promise<void> {
    this.#server = await startChild(this.#location, this.#flags);
    this.#client = rawClient(this.#server.blobUrl);
  }

  /** Writes until the number of acknowledged changes is reached, with kills in between. */
  async write(): Promise<void> {
    const write = async (): Promise<void> => {
      while (this.ledger.acknowledged < changes) {
        const id = this.ledger.begin();
        const headers = { "x-ms-blob-type": "BlockBlob", "x-ms-client-request-id": String(id) };
        const call = { method: "PUT", path: `/box/b${id % blobs}`, headers, body: "x" };
        const answer = await this.#client.send(call).catch(() => undefined);
        this.ledger.end(id, answer?.status);
        if (answer?.status !== 201) {
          await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
          await this.#restarting;
        }
        this.#killIfDue();
      }
    };
    await Promise.all(Array.from({ length: writers }, write));
    await this.#restarting;
  }

  #killIfDue(): void {
    const due = ((this.#killed + 1) * changes) / (kills + 1);
    if (this.#killed >= kills || this.ledger.acknowledged < due) return;
    const victim = victims[this.#killed % victims.length];
    this.#killed += 1;
    if (victim === "server") {
      this.#restarting = this.#restart();
      return;
    }
    const processes = workersOf(this.#server);
    const end = (): void => {
      const chosen = victim === "worker" ? processes.slice(0, 1 + (this.#killed % 2)) : processes;
      for (const pid of chosen) process.kill(pid, "SIGKILL");
    };
    if (victim === "worker") end();
    else this.#receiver.onNext = end;
  }

  async #restart(): Promise<void> {
    await this.#server.kill("SIGKILL");
    await this.#startServer();
  }

  async settle(): Promise<void> {
    for (;;) {
      const address = await readAdminAddress(this.#location);
      const answer = await fetch(`${address?.url}/admin/v1/events/settled`, {
        method: "POST",
        headers: {
          "x-etagere-admin": "1",
          "content-type": "application/json",
          authorization: `Bearer ${address?.token}`,
        },
        body: JSON.stringify({ timeoutSeconds: settleSeconds }),
      }).catch(() => undefined);
      if (((await answer?.json()) as { readonly settled?: boolean })?.settled === true) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
    }
  }

  /** Reads the feed, one chunk after the other, until it has all acknowledged changes. */
  async readFeed(): Promise<number> {
    const feed = "/$blobchangefeed";
    let peak = 0;
    const known = new Map<string, { readonly decoder: AvroDecoder; bytes: number }>();
    while (!this.ledger.isFeedComplete) {
      const path = `${feed}?restype=container&comp=list&prefix=log/`;
      const { body } = await this.#read(path);
      for (const [, name = "", length] of body.toString().matchAll(chunkForm)) {
        const chunk = known.get(name) ?? { decoder: new AvroDecoder(), bytes: 0 };
        known.set(name, chunk);
        // Chunks only grow at their end.
        while (chunk.bytes < Number(length)) {
          const part = await this.#read(`${feed}/${name}`, chunk.bytes);
          chunk.bytes += part.body.length;
          for (const { data } of chunk.decoder.push(part.body)) {
            this.ledger.see(Number((data as { readonly clientRequestId: string }).clientRequestId));
          }
          peak = Math.max(peak, process.memoryUsage().rss);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
    }
    return peak;
  }

  /** The server closes a connection that is idle while a chunk is decoded. */
  #read(path: string, from = 0): Promise<RawAnswer> {
    const headers = { range: `bytes=${from}-${from + partBytes - 1}` };
    const call = { method: "GET", path, headers };
    return this.#client.send(call).catch(() => this.#client.send(call));
  }

  async stop(): Promise<void> {
    await this.#server.kill("SIGTERM");
    this.#receiver.close();
  }
}

async function prove(run: Run): Promise<void> {
  const times = [performance.now()];
  const next = async <T>(step: () => Promise<T>): Promise<T> => {
    const result = await step();
    times.push(performance.now());
    return result;
  };
  await run.start();
  await next(() => run.write());
  await next(() => run.settle());
  const before = process.memoryUsage().rss;
  const peak = await next(() => run.readFeed());
  const { ledger } = run;
  const [writing, settling, reading] = times
    .slice(1)
    .map((end, at) => `${((end - times[at]!) / 1000).toFixed(0)} s`);
  const readerMebibytes = Math.max(0, Math.round((peak - before) / 2 ** 20));
  const problems = ledger.problems();
  const lines = [
    `changes: ${ledger.acknowledged} acknowledged, ${ledger.unknown} without a response, ` +
      `${kills} kills, written in ${writing}`,
    `feed: ${ledger.seen} events, ${ledger.absent} acknowledged changes absent, ` +
      `${ledger.repeated} repeated; read in ${reading} with ${readerMebibytes} MiB`,
    `webhook: ${ledger.deliveries} deliveries, ${ledger.missed} acknowledged changes missed; ` +
      `settled ${settling} after the last change`,
    `violations: ${problems.length}`,
  ];
  console.log(lines.join("\n"));
  const record = process.env["ETAGERE_EVENT_RECORD"];
  if (record !== undefined) appendFileSync(record, `${lines.join("\n")}\n`);
  expect(problems).toEqual([]);
  expect(readerMebibytes).toBeLessThan(readerMebibytesMax);
}

test(
  "the feed equals the commits one to one, and the webhook misses none",
  async () => {
    const run = new Run();
    try {
      await prove(run);
    } finally {
      await run.stop();
    }
  },
  hoursMax * 3_600_000,
);
