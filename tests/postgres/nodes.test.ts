import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { realClock } from "../../src/host/world.ts";
import { increment, k, put, read, text } from "../harness/store/store-steps.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import type { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { silentLog } from "../harness/silent-log.ts";
import { StoreUnavailable, type Store } from "../../src/store/store.ts";
import { openDatabase, type Database } from "./database.ts";
import { openLossyProxy } from "./lossy-proxy.ts";

let database: Database;
let nodes = 0;
const clock = realClock();

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database.stop());

function open(url: string, ephemeral = false): Promise<PostgresStore> {
  nodes += 1;
  return openPostgresStore({ url, node: `node-${nodes}`, clock, log: silentLog, ephemeral });
}

const several = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

describe("nodes on one database", () => {
  it("may all start first", async () => {
    const url = database.newUrl();
    const stores = await several(4, () => open(url));
    await several(4, (index) => put(stores[index] as Store, k("a", index), "1"));
    for (const store of stores) {
      expect(await read(store, k("a", 3))).toBe("1");
      await store.close();
    }
  });

  it("lose no update, on a shared key and on separate keys", async () => {
    const url = database.newUrl();
    const stores = await several(3, () => open(url));
    const [callers, rounds] = [6, 15];
    await Promise.all(
      stores.flatMap((store, node) =>
        Array.from({ length: callers }, async () => {
          for (let round = 0; round < rounds; round += 1) {
            await store.transact((tx) => increment(tx, k("shared")));
            await store.transact((tx) => increment(tx, k("own", node)));
          }
        }),
      ),
    );
    const [first] = stores;
    expect(await read(first as Store, k("shared"))).toBe(String(3 * callers * rounds));
    expect(await read(first as Store, k("own", 1))).toBe(String(callers * rounds));
    for (const store of stores) await store.close();
  });

  it("see each other's commits once acknowledged, with later store times", async () => {
    const url = database.newUrl();
    const [one, other] = (await several(2, () => open(url))) as [PostgresStore, PostgresStore];
    let last = 0n;
    for (let turn = 0; turn < 20; turn += 1) {
      const [writer, reader] = turn % 2 === 0 ? [one, other] : [other, one];
      const written = await writer.transact(async (tx) => {
        await increment(tx, k("turn"));
        return tx.now;
      });
      const seen = await reader.snapshot(async (view) => ({
        turn: text(await view.get(k("turn"))),
        now: view.now,
      }));
      expect(seen.turn).toBe(String(turn + 1));
      expect(written).toBeGreaterThan(last);
      expect(seen.now).toBeGreaterThan(written);
      last = seen.now;
    }
    await Promise.all([one.close(), other.close()]);
  });

  it("notify their watchers of each other's commits", async () => {
    const url = database.newUrl();
    const [one, other] = (await several(2, () => open(url))) as [PostgresStore, PostgresStore];
    for (const round of [1, 2, 3]) {
      const notified = new Promise<void>((resolve) => {
        const unwatch = one.watch(k("watched"), () => {
          unwatch();
          resolve();
        });
      });
      await Promise.all([put(other, k("watched"), String(round)), notified]);
    }
    await Promise.all([one.close(), other.close()]);
  });

  it("continue if a watcher throws, and notify the others", async () => {
    const store = await open(database.newUrl());
    let notified = 0;
    store.watch(k("watched"), () => {
      throw new Error("a watcher that fails");
    });
    store.watch(k("watched"), () => void (notified += 1));
    await put(store, k("watched"), "1");
    await put(store, k("watched"), "2");
    expect(notified).toBe(2);
    await store.close();
  });

  it("keep separate volatile key spaces", async () => {
    const url = database.newUrl();
    const [lasting, passing] = await Promise.all([open(url), open(url, true)]);
    await put(passing, k("a"), "1");
    expect(await read(lasting, k("a"))).toBeUndefined();
    expect(await read(passing, k("a"))).toBe("1");
    await Promise.all([lasting.close(), passing.close()]);
  });

  it("cannot commit after they were fenced", async () => {
    const url = database.newUrl();
    const lost = await open(url);
    const node = `node-${nodes}`;
    const other = await open(url);
    await put(lost, k("a"), "before");
    await other.fence(node);
    await expect(put(lost, k("a"), "after")).rejects.toThrow(StoreUnavailable);
    await expect(read(lost, k("a"))).rejects.toThrow("was fenced");
    expect(await read(other, k("a"))).toBe("before");
    await Promise.all([lost.close(), other.close()]);
  });

  it("learn that they were fenced without a commit", async () => {
    const url = database.newUrl();
    const lost = await open(url);
    const node = `node-${nodes}`;
    const other = await open(url);
    await lost.assertNotFenced();
    await other.fence(node);
    await expect(lost.assertNotFenced()).rejects.toThrow(StoreUnavailable);
    await other.assertNotFenced();
    await Promise.all([lost.close(), other.close()]);
  });

  it("reject a newer schema format", async () => {
    const url = database.newUrl();
    await (await open(url)).close();
    const schema = new URL(url).searchParams.get("schema");
    await database.query(`UPDATE ${schema}.format SET version = 9, oldest_reader = 1`);
    await (await open(url)).close();
    await database.query(`UPDATE ${schema}.format SET version = 9, oldest_reader = 9`);
    await expect(open(url)).rejects.toThrow("has format 9");
  });
});

describe("a database that crashes", () => {
  it("loses no acknowledged commit and commits nothing twice", async () => {
    const url = database.newUrl();
    const stores = (await several(2, () => open(url))) as [PostgresStore, PostgresStore];
    const load = { acknowledged: 0, isOver: false };
    const running = stores.flatMap((store, node) =>
      Array.from({ length: 4 }, async (_, caller) => {
        const key = k("count", node, caller);
        let own = 0;
        while (!load.isOver) {
          try {
            await store.transact(async (tx) => {
              await increment(tx, key);
              await increment(tx, k("all"));
            });
            own += 1;
            load.acknowledged += 1;
          } catch (error) {
            if (!(error instanceof StoreUnavailable)) throw error;
            await new Promise((resolve) => clock.after(20, () => resolve(undefined)));
          }
        }
        expect(await read(store, key)).toBe(String(own));
      }),
    );
    const untilMoreAreDone = async (): Promise<void> => {
      const enough = load.acknowledged + 50;
      while (load.acknowledged < enough) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    for (let round = 1; round <= 3; round += 1) {
      await untilMoreAreDone();
      await database.crash();
      await database.start();
    }
    await untilMoreAreDone();
    load.isOver = true;
    await Promise.all(running);
    expect(await read(stores[0], k("all"))).toBe(String(load.acknowledged));
    for (const store of stores) await store.close();
  });

  it("commits once if the response to a commit is lost", async () => {
    const url = new URL(database.newUrl());
    const proxy = await openLossyProxy(Number(url.port));
    url.port = String(proxy.port);
    const store = await open(url.href);
    await store.transact((tx) => increment(tx, k("a")));
    for (let count = 2; count <= 5; count += 1) {
      proxy.loseNextAnswer();
      expect(await store.transact((tx) => increment(tx, k("a")))).toBe(count);
      expect(await read(store, k("a"))).toBe(String(count));
    }
    expect(proxy.answersLost()).toBe(4);
    await store.close();
    await proxy.close();
  });

  it("lets callers time out", async () => {
    const url = database.newUrl();
    const store = await open(url);
    await put(store, k("a"), "1");
    await database.crash();
    await expect(read(store, k("a"))).rejects.toThrow(StoreUnavailable);
    await database.start();
    expect(await read(store, k("a"))).toBe("1");
    await store.close();
  });
});
