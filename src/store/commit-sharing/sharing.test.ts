import { connect } from "node:net";
import { once } from "node:events";

import { describe, expect, it } from "vitest";

import type { Ticks } from "../../base/ticks.ts";
import { decodeCounter } from "../counter.ts";
import { below, bytes, increment, k, put, read, text } from "../conformance/store-steps.ts";
import { times } from "../conformance/harness.ts";
import type { Engine, EngineBatch } from "../engine.ts";
import { memoryEngine } from "../memory/memory-engine.ts";
import { StoreFull } from "../store.ts";
import type { Store } from "../store.ts";
import { helloFrame } from "./messages.ts";
import { sharingHarness } from "./sharing-harness.ts";
import type { SharingStore } from "./sharing-harness.ts";

const newSharing = sharingHarness();
const sum = (sizes: readonly number[]): number => sizes.reduce((left, right) => left + right, 0);
const counterOf = async (store: Store, name: string): Promise<bigint> =>
  store.snapshot(async (view) => decodeCounter(await view.get(k(name))));

async function trio(): Promise<SharingStore[]> {
  const sharing = newSharing();
  const leader = await sharing.openLeader();
  return [leader, await sharing.openFollower(2), await sharing.openFollower(3)];
}

describe("a commit leader", () => {
  it("commits all transactions of its followers", async () => {
    const [leader, left, right] = (await trio()) as [SharingStore, SharingStore, SharingStore];
    await Promise.all(
      [leader, left, right].flatMap(({ store }, process) =>
        Array.from({ length: 50 }, (_, index) => put(store, k("own", process, index), "1")),
      ),
    );
    expect(sum(leader.commits)).toBe(150);
    expect([left.commits, right.commits]).toEqual([[], []]);
  });

  it("commits batches of several processes with one flush", async () => {
    const [leader, left, right] = (await trio()) as [SharingStore, SharingStore, SharingStore];
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        [leader, left, right].map(({ store }, process) => put(store, k("own", process), "1")),
      );
    }
    expect(leader.commits.length).toBeLessThan(60);
  });

  it("loses no update when attempts of different processes conflict", async () => {
    const all = await trio();
    await Promise.all(
      all.map(({ store }) =>
        times(40, async () => {
          await store.transact((tx) => increment(tx, k("hot")));
        }),
      ),
    );
    const [{ store }] = all as [SharingStore];
    expect(await read(store, k("hot"))).toBe("120");
  });

  it("drops transactions of a follower that depend on one that conflicts", async () => {
    const all = await trio();
    await Promise.all(
      all.map(({ store }) =>
        times(20, async (index) => {
          await store.transact((tx) => increment(tx, k("hot")));
          await store.transact(async (tx) => {
            tx.put(k("seen", index), bytes(text(await tx.get(k("hot"))) ?? ""));
            await increment(tx, k("hot"));
          });
        }),
      ),
    );
    expect(await read((all as [SharingStore])[0].store, k("hot"))).toBe("120");
  });

  it("detects entries that another process adds to a range", async () => {
    const all = await trio();
    const take = (store: Store, index: string): Promise<void> =>
      store.transact(async (tx) => {
        let count = 0;
        for await (const entries of tx.range(below("list"))) count += entries.length;
        tx.put(k("list", String(count).padStart(3, "0")), bytes(index));
      });
    await Promise.all(
      all.map(({ store }, process) => times(15, (index) => take(store, `${process} ${index}`))),
    );
    const [{ store }] = all as [SharingStore];
    const stored = await store.snapshot(async (view) => {
      const found: string[] = [];
      for await (const entries of view.range(below("list"))) {
        found.push(...entries.map(({ value }) => text(value) ?? ""));
      }
      return found;
    });
    expect(new Set(stored).size).toBe(45);
  });

  it("adds to counters of all processes", async () => {
    const all = await trio();
    await Promise.all(
      all.map(({ store }) => times(30, () => store.transact(async (tx) => tx.add(k("count"), 2n)))),
    );
    expect(await counterOf((all as [SharingStore])[0].store, "count")).toBe(180n);
  });

  it("gives transactions of all processes increasing times", async () => {
    const all = await trio();
    const wrong: Ticks[] = [];
    const write = (store: Store): Promise<void> =>
      store.transact(async (tx) => {
        const before = BigInt(text(await tx.get(k("time"))) ?? "0");
        if (tx.now <= before) wrong.push(tx.now);
        tx.put(k("time"), bytes(String(tx.now)));
      });
    await Promise.all(all.map(({ store }) => times(30, () => write(store))));
    expect(wrong).toEqual([]);
  });

  it("makes a commit visible to all processes before it is acknowledged", async () => {
    const all = await trio();
    for (let round = 0; round < 10; round += 1) {
      for (const { store } of all) {
        await put(store, k("round"), String(round));
        for (const other of all) expect(await read(other.store, k("round"))).toBe(String(round));
      }
    }
  });

  it("has the watchers of followers called at once, without a poll", async () => {
    const [leader, left, right] = (await trio()) as [SharingStore, SharingStore, SharingStore];
    const calls: string[] = [];
    const called = (name: string, store: Store): Promise<void> =>
      new Promise((resolve) => {
        store.watch(k("watched"), () => {
          calls.push(name);
          resolve();
        });
      });
    const both = [called("left", left.store), called("right", right.store)];
    // Their connections carry the registration before these batches.
    await put(left.store, k("other"), "1");
    await put(right.store, k("other"), "1");
    expect(calls).toEqual([]);
    await put(leader.store, k("watched", 1), "1");
    await Promise.all(both);
    expect(calls.toSorted()).toEqual(["left", "right"]);
  });
});

describe("a follower whose leader commits nothing", () => {
  const watched = (store: Store): Promise<void> =>
    new Promise((resolve) => {
      store.watch(k("watched"), resolve);
    });

  it("commits alone until another process commits", async () => {
    const [leader, left, right] = (await trio()) as [SharingStore, SharingStore, SharingStore];
    for (let round = 0; round < 4; round += 1) await put(left.store, k("own"), String(round));
    expect([leader.commits.length, left.commits.length]).toEqual([1, 3]);
    await put(right.store, k("other"), "1");
    await put(left.store, k("own"), "4");
    expect([leader.commits.length, left.commits.length]).toEqual([3, 3]);
    expect(await read(leader.store, k("own"))).toBe("4");
  });

  it("has the watchers of all processes called at once, without a poll", async () => {
    const [leader, left, right] = (await trio()) as [SharingStore, SharingStore, SharingStore];
    const all = [leader, left, right].map(({ store }) => watched(store));
    // The connection of the right one carries its registration before this batch.
    await put(right.store, k("other"), "1");
    await put(left.store, k("own"), "1");
    await put(left.store, k("watched", 1), "1");
    await Promise.all(all);
    expect(left.commits).toEqual([1]);
  });

  it.each([
    ["many", 10_001, 1],
    ["long", 2900, 3000],
  ])("reports a commit with too %s keys for a message", async (_, count, characters) => {
    const [leader, left, right] = (await trio()) as [SharingStore, SharingStore, SharingStore];
    const others = [leader, right].map(({ store }) => watched(store));
    await put(right.store, k("other"), "1");
    await put(left.store, k("own"), "1");
    await left.store.transact(async (tx) => {
      for (let index = 0; index < count; index += 1) {
        tx.put(k("own", index, "x".repeat(characters)), bytes("1"));
      }
    });
    await Promise.all(others);
    expect(left.commits).toEqual([1]);
    // The connections still work.
    await put(right.store, k("other"), "2");
    await put(left.store, k("own"), "2");
    expect([left.commits, right.commits]).toEqual([[1], []]);
  });
});

/** Accepts batches with at most `writesMax` writes. */
function smallEngine(writesMax: number): Engine {
  const inner = memoryEngine();
  const admit = (batch: EngineBatch | undefined): EngineBatch | undefined => {
    if (batch !== undefined && batch.writes.length > writesMax) throw new StoreFull("no space");
    return batch;
  };
  return { ...inner, commit: (decide) => inner.commit((current) => admit(decide(current))) };
}

describe("a commit leader whose disk is full", () => {
  it("commits smaller batches of followers", async () => {
    const sharing = newSharing(smallEngine(6));
    const all = [await sharing.openLeader(), await sharing.openFollower()];
    await Promise.all(
      all.map(({ store }, process) =>
        times(20, (index) => put(store, k("own", process, index), "1")),
      ),
    );
    expect(sum(all.flatMap(({ commits }) => commits))).toBe(40);
  });

  it("rejects with StoreFull only what does not fit", async () => {
    const sharing = newSharing(smallEngine(6));
    const { store: leader } = await sharing.openLeader();
    const { store } = await sharing.openFollower();
    const large = store.transact(async (tx) => {
      for (let index = 0; index < 10; index += 1) tx.put(k("large", index), bytes("1"));
    });
    const results = await Promise.allSettled([
      large,
      put(store, k("a"), "1"),
      put(leader, k("b"), "1"),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
    await expect(large).rejects.toThrow(StoreFull);
    expect(await read(leader, k("large", 0))).toBeUndefined();
  });
});

describe("a malformed message", () => {
  const hello = helloFrame({ owner: 9, follower: "9-9-0-1" });
  const cases: readonly (readonly [string, Buffer])[] = [
    ["that is too long", Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ["of an unknown kind", Buffer.from([1, 0, 0, 0, 99])],
    ["before the first one", Buffer.from([2, 0, 0, 0, 3, 1])],
    ["that ends too early", Buffer.concat([hello, Buffer.from([3, 0, 0, 0, 2, 1, 1])])],
    [
      "with more bytes than its content",
      Buffer.concat([hello, Buffer.from([3, 0, 0, 0, 3, 1, 1])]),
    ],
    ["with another version", Buffer.from([2, 0, 0, 0, 1, 77])],
    ["with an invalid id", helloFrame({ owner: 9, follower: "../9" })],
  ];

  it.each(cases)("%s closes the connection and nothing else", async (_, frame) => {
    const sharing = newSharing();
    const leader = await sharing.openLeader();
    const follower = await sharing.openFollower();
    const socket = connect(sharing.socket);
    socket.write(frame);
    socket.resume();
    await once(socket, "close");
    await put(follower.store, k("a"), "1");
    expect(await read(leader.store, k("a"))).toBe("1");
    expect(leader.commits).toEqual([1]);
  });
});
