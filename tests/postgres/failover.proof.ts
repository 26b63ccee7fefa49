import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

import { ticksPerMillisecond } from "../../src/base/ticks.ts";
import { start } from "../../src/index.ts";
import { realClock } from "../../src/host/world.ts";
import { increment, k, read } from "../harness/store/store-steps.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { silentLog } from "../harness/silent-log.ts";
import { StoreUnavailable, type Store } from "../../src/store/store.ts";
import { freePort } from "../harness/free-port.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";
import { freePorts } from "../harness/server.ts";
import { initialise, Instance, newFolder, queryOnce, runAsUser } from "./database.ts";

const rounds = Number(process.env["ETAGERE_FAILOVER_ROUNDS"] ?? 2);
const clock = realClock();
/** Time from a promotion to the next commit on a busy machine. */
const secondsAwayMax = 15;
const pollMilliseconds = 20;
const pause = (): Promise<void> =>
  new Promise((resolve) => clock.after(pollMilliseconds, () => resolve()));

/** A synchronous standby: it has confirmed every commit before the client gets a response. */
async function addStandby(primary: Instance, data: string, port: number): Promise<Instance> {
  const from = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "postgres"];
  await runAsUser("pg_basebackup", [
    ...from,
    "-D",
    data,
    "-R",
    "-X",
    "stream",
    "-c",
    "fast",
    "--no-sync",
  ]);
  const standby = new Instance({ data, port, settings: [] });
  await standby.start();
  await queryOnce(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await queryOnce(primary.url, "SELECT pg_reload_conf()");
  const isSynchronous = async (): Promise<boolean> =>
    (await queryOnce(primary.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"))
      .rows.length > 0;
  while (!(await isSynchronous())) await pause();
  return standby;
}

async function promote(standby: Instance): Promise<void> {
  await queryOnce(standby.url, "SELECT pg_promote()");
}

/** Counts acknowledged commits; retries while the store is unavailable. */
class Load {
  acknowledged = 0;
  isOver = false;

  async run(store: Store, name: number): Promise<void> {
    let own = 0;
    while (!this.isOver) {
      try {
        await store.transact(async (tx) => {
          await increment(tx, k("own", name));
          await increment(tx, k("all"));
        });
        own += 1;
        this.acknowledged += 1;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await pause();
      }
    }
    expect(await read(store, k("own", name))).toBe(String(own));
  }

  untilOneMore(): Promise<void> {
    return this.untilMore(1);
  }

  async untilMore(count = 60): Promise<void> {
    const enough = this.acknowledged + count;
    while (this.acknowledged < enough) await pause();
  }
}

/** Puts blobs through a server and records which were acknowledged. */
class Uploads {
  readonly acknowledged: string[] = [];
  readonly #client: RawClient;
  isOver = false;

  constructor(client: RawClient) {
    this.#client = client;
  }

  async run(): Promise<void> {
    const headers = { "x-ms-blob-type": "BlockBlob" };
    for (let index = 0; !this.isOver; index += 1) {
      const name = `blob${index}`;
      const put = { method: "PUT", path: `/uploads/${name}`, headers, body: name };
      const { status } = await this.#client.send(put);
      if (status === 201) this.acknowledged.push(name);
      else {
        expect(status).toBe(503);
        await pause();
      }
    }
  }

  async missing(): Promise<readonly string[]> {
    const missing: string[] = [];
    for (const name of this.acknowledged) {
      const { body } = await this.#client.send({ method: "GET", path: `/uploads/${name}` });
      if (body.toString() !== name) missing.push(name);
    }
    return missing;
  }

  async untilOneMore(): Promise<void> {
    const enough = this.acknowledged.length + 1;
    while (this.acknowledged.length < enough) await pause();
  }
}

const secondsSince = (began: bigint): number =>
  Math.round(Number((clock.monotonic() - began) / ticksPerMillisecond)) / 1000;

it(
  `loses nothing in ${rounds} failovers to a synchronous standby`,
  { timeout: 600_000 },
  async () => {
    const folder = newFolder();
    const data = join(folder, "0");
    await initialise(data);
    const ports = [await freePort(), await freePort()] as const;
    let primary = new Instance({ data, port: ports[0], settings: [] });
    await primary.start();
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join();
    const url = `postgres://postgres@${hosts}/postgres`;
    const stores = await Promise.all(
      ["left", "right"].map((node) => openPostgresStore({ url, node, clock, log: silentLog })),
    );
    const server = await start({ ...freePorts, location: join(folder, "node"), store: url });
    const client = rawClient(server.urls.blob ?? "");
    await client.send({ method: "PUT", path: "/uploads?restype=container" });
    const uploads = new Uploads(client);
    const uploading = uploads.run();
    const load = new Load();
    const running = [0, 1, 2, 3, 4, 5].map((name) => load.run(stores[name % 2] as Store, name));
    const secondsAway: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const port = ports[round % 2] ?? 0;
      const standby = await addStandby(primary, join(folder, String(round)), port);
      await load.untilMore();
      await primary.end("SIGKILL");
      await promote(standby);
      const promoted = clock.monotonic();
      primary = standby;
      // A standby inherits the settings of its primary but has no standby to wait for yet.
      await queryOnce(primary.url, "ALTER SYSTEM RESET synchronous_standby_names");
      await queryOnce(primary.url, "SELECT pg_reload_conf()");
      await Promise.all([load.untilOneMore(), uploads.untilOneMore()]);
      secondsAway.push(secondsSince(promoted));
      await load.untilMore();
    }
    load.isOver = true;
    uploads.isOver = true;
    await Promise.all([...running, uploading]);
    const found = await read(stores[0] as Store, k("all"));
    const missing = await uploads.missing();
    console.log(
      `${rounds} failovers under load: ${load.acknowledged} commits were acknowledged, ` +
        `${found} are there; of ${uploads.acknowledged.length} blobs ${missing.length} are ` +
        `missing; seconds from each promotion to the next: ${secondsAway.join(", ")}`,
    );
    expect(found).toBe(String(load.acknowledged));
    expect(missing).toEqual([]);
    expect(Math.max(...secondsAway)).toBeLessThan(secondsAwayMax);
    await Promise.all([server.stop(), ...stores.map((store) => store.close())]);
    await primary.end("SIGQUIT");
    rmSync(folder, { recursive: true, force: true });
  },
);
