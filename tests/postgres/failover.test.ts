import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

import { realClock } from "../../src/server/world.ts";
import { increment, k, read } from "../../src/store/conformance/store-steps.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { silentLog } from "../../src/store/silent-log.ts";
import { StoreUnavailable, type Store } from "../../src/store/store.ts";
import { freePort, initialise, Instance, newFolder, queryOnce, runAsUser } from "./database.ts";
import { openLossyProxy } from "./lossy-proxy.ts";

const rounds = Number(process.env["ETAGERE_FAILOVER_ROUNDS"] ?? 2);
const clock = realClock();
const pollMilliseconds = 20;
const pause = (): Promise<void> =>
  new Promise((resolve) => clock.after(pollMilliseconds, () => resolve()));

/** A copy of the primary that has acknowledged every commit before a client hears of it. */
async function addStandby(primary: Instance, data: string): Promise<Instance> {
  const from = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", "postgres"];
  runAsUser("pg_basebackup", [
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
  const standby = new Instance({ data, port: await freePort(), settings: [] });
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

/** Counts what was acknowledged; a store that is away is tried again. */
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

  async untilMore(): Promise<void> {
    const enough = this.acknowledged + 60;
    while (this.acknowledged < enough) await pause();
  }
}

it(`loses nothing in ${rounds} failovers to a synchronous standby`, async () => {
  const folder = newFolder();
  const data = join(folder, "0");
  initialise(data);
  let primary = new Instance({ data, port: await freePort(), settings: [] });
  await primary.start();
  const proxy = await openLossyProxy(primary.port);
  const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
  const stores = await Promise.all(
    ["left", "right"].map((node) => openPostgresStore({ url, node, clock, log: silentLog })),
  );
  const load = new Load();
  const running = [0, 1, 2, 3, 4, 5].map((name) => load.run(stores[name % 2] as Store, name));
  for (let round = 1; round <= rounds; round += 1) {
    const standby = await addStandby(primary, join(folder, String(round)));
    await load.untilMore();
    await primary.end("SIGKILL");
    await promote(standby);
    proxy.redirect(standby.port);
    primary = standby;
    // A standby takes over the settings of its primary, and has nobody to wait for yet.
    await queryOnce(primary.url, "ALTER SYSTEM RESET synchronous_standby_names");
    await queryOnce(primary.url, "SELECT pg_reload_conf()");
    await load.untilMore();
  }
  load.isOver = true;
  await Promise.all(running);
  expect(await read(stores[0] as Store, k("all"))).toBe(String(load.acknowledged));
  await Promise.all(stores.map((store) => store.close()));
  await proxy.close();
  await primary.end("SIGQUIT");
  rmSync(folder, { recursive: true, force: true });
});
