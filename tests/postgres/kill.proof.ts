import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { startChild, type ChildServer } from "../harness/child-server.ts";
import { openFakeS3, type FakeS3 } from "../harness/fake-s3.ts";
import { rawClient } from "../harness/raw-client.ts";
import { container, KillClient } from "./blob-workload.ts";
import { openDatabase, type Database } from "./database.ts";

const rounds = Number(process.env["ETAGERE_KILL_ROUNDS"] ?? 2);
const clientsPerNode = 6;
const writesPerRound = 100;
const pollMilliseconds = 5;

let database: Database;
let bucket: FakeS3;
let folder: string;
let pairs = 0;

beforeAll(async () => {
  [database, bucket] = await Promise.all([openDatabase(), openFakeS3()]);
  folder = await mkdtemp(join(tmpdir(), "etagere-nodes-"));
  process.env["AWS_ACCESS_KEY_ID"] = bucket.credentials.accessKeyId;
  process.env["AWS_SECRET_ACCESS_KEY"] = bucket.credentials.secretAccessKey;
});

afterAll(async () => {
  await Promise.all([database.stop(), bucket.close()]);
  await rm(folder, { recursive: true, force: true });
});

/** Two nodes with separate folders, which share only the database and the bucket. */
class Pair {
  readonly #name: string;
  readonly #store: string;
  readonly #content: string;
  readonly nodes: ChildServer[] = [];

  constructor() {
    pairs += 1;
    this.#name = `pair${pairs}`;
    this.#store = database.newUrl();
    this.#content = bucket.location.replace("?", `/${pairs}?`);
  }

  async start(index: number): Promise<void> {
    const store = `${this.#store}&application_name=${this.#name}-${index}`;
    const flags = [`--store=${store}`, `--content=${this.#content}`, "--silent"];
    this.nodes[index] = await startChild(join(folder, String(index)), flags);
  }

  /** The database executes a commit that it received from a node that is killed. Resolves when it
   *  has done so and has closed the connections of the node. */
  async kill(index: number): Promise<void> {
    const name = `${this.#name}-${index}`;
    const query = `SELECT pid FROM pg_stat_activity WHERE application_name = '${name}'`;
    const isConnected = async () => (await database.query(query)).rows.length > 0;
    expect(await isConnected()).toBe(true);
    await this.nodes[index]?.kill("SIGKILL");
    while (await isConnected()) {
      await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
    }
  }

  clientOf(index: number) {
    return rawClient(this.nodes[index]?.blobUrl ?? "");
  }
}

const total = (clients: readonly KillClient[]): number =>
  clients.reduce((sum, { acknowledgedWrites }) => sum + acknowledgedWrites, 0);

describe("two nodes on one database and one bucket", () => {
  it(`lose nothing over ${rounds} kills, and each sees the other's writes at once`, async () => {
    const pair = new Pair();
    await Promise.all([pair.start(0), pair.start(1)]);
    const made = { method: "PUT", path: `/${container}?restype=container` };
    await pair.clientOf(0).send(made);
    const clients = Array.from({ length: 2 * clientsPerNode }, (_, id) => new KillClient(id));
    for (let round = 0; round < rounds; round += 1) {
      const [victim, survivor] = [round % 2, (round + 1) % 2];
      const enough = total(clients) + writesPerRound;
      let isOver = false;
      const running = clients.map((each, id) => each.run(pair.clientOf(id % 2), () => isOver));
      while (total(clients) < enough) {
        await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
      }
      await pair.kill(victim);
      isOver = true;
      await Promise.all(running);
      const client = pair.clientOf(survivor);
      const problems = await Promise.all(clients.map((each) => each.check(client)));
      expect(problems.flat()).toEqual([]);
      await pair.start(victim);
    }
    expect(total(clients)).toBeGreaterThanOrEqual(rounds * writesPerRound);
    await Promise.all(pair.nodes.map((node) => node.kill("SIGTERM")));
  });

  it("continue by themselves after a database outage", async () => {
    const pair = new Pair();
    await pair.start(0);
    const client = pair.clientOf(0);
    await client.send({ method: "PUT", path: `/${container}?restype=container` });
    const put = { method: "PUT", headers: { "x-ms-blob-type": "BlockBlob" } };
    const first = await client.send({ ...put, path: `/${container}/a`, body: Buffer.from("1") });
    expect(first.status).toBe(201);
    await database.crash();
    const away = await client.send({ method: "GET", path: `/${container}/a` });
    expect([away.status, away.code]).toEqual([503, "ServerBusy"]);
    expect(away.headers["retry-after"]).toBe("1");
    await database.start();
    const again = await client.send({ method: "GET", path: `/${container}/a` });
    expect([again.status, again.body.toString()]).toEqual([200, "1"]);
    const second = await client.send({ ...put, path: `/${container}/b`, body: Buffer.from("2") });
    expect(second.status).toBe(201);
    await pair.nodes[0]?.kill("SIGTERM");
  });
});

it("a node stops in order although its database is gone", async () => {
  const node = await startChild(join(folder, "gone"), [`--store=${database.newUrl()}`, "--silent"]);
  await database.crash();
  expect(await node.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  await database.start();
});
