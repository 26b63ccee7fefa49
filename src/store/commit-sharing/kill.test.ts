import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { secondProcess } from "../conformance/start-second-process.ts";
import type { Child } from "../conformance/start-second-process.ts";
import { expectSerialOrder } from "../conformance/serial-order.ts";
import { below, increment, k, read, values } from "../conformance/store-steps.ts";
import { decodeCounter } from "../counter.ts";
import { openLmdbStore } from "../lmdb/open-lmdb-store.ts";
import { manualClock } from "../manual-clock.ts";
import { silentLog } from "../silent-log.ts";
import type { Store } from "../store.ts";

const folder = mkdtempSync(join(tmpdir(), "shared-kill-"));
const start = secondProcess();
afterAll(() => rmSync(folder, { recursive: true }));

const open = (location: string): Promise<Store> =>
  openLmdbStore({ location, clock: manualClock(), log: silentLog, volatilePrefix: k("volatile") });

/** A leader and a follower that run the same mode. */
async function startBoth(mode: string, location: string, count = ""): Promise<[Child, Child]> {
  const socket = `${location}.socket`;
  const leader = start(mode, location, "leader", count, "leader", socket);
  await leader.lines.next();
  const follower = start(mode, location, "follower", count, "follower", socket);
  await follower.lines.next();
  return [leader, follower];
}

/** Reads lines until there are `count` or the process has ended. */
async function readLines({ lines }: Child, count: number): Promise<string[]> {
  const found: string[] = [];
  while (found.length < count) {
    const line = await lines.next();
    if (line.done === true) break;
    found.push(line.value);
  }
  return found;
}

interface Stored {
  readonly values: ReadonlySet<string>;
  readonly count: number;
}

const storedBy = (store: Store, name: string): Promise<Stored> =>
  store.snapshot(async (view) => ({
    values: new Set(await values(view, below("hammered", name))),
    count: Number(decodeCounter(await view.get(k("count", name)))),
  }));

async function exitCodes(children: readonly Child[]): Promise<unknown[]> {
  const ended = await Promise.all(children.map((child) => child.ended));
  return ended.map((each) => (each as unknown[])[0]);
}

describe("a leader and a follower in two processes", () => {
  it("lose no update on shared keys and on keys of their own", async () => {
    const location = join(folder, "increment");
    const count = 800;
    const both = await startBoth("increment", location, String(count));
    expect(await exitCodes(both)).toEqual([0, 0]);
    const store = await open(location);
    expect(await read(store, k("shared"))).toBe(String(2 * count));
    expect(await read(store, k("own", "leader"))).toBe(String(count));
    expect(await read(store, k("own", "follower"))).toBe(String(count));
    await store.close();
  });

  it("run random queue operations as if serially", async () => {
    const location = join(folder, "queue");
    const count = 1000;
    const both = await startBoth("queue", location, String(count));
    expect(await exitCodes(both)).toEqual([0, 0]);
    const store = await open(location);
    await expectSerialOrder(store, 2 * count);
    await store.close();
  });

  it("lose no update of a volatile key either", async () => {
    const location = join(folder, "mixed");
    const count = 400;
    const both = await startBoth("mixed", location, String(count));
    expect(await exitCodes(both)).toEqual([0, 0]);
    const store = await open(location);
    expect(await read(store, k("volatile", "shared"))).toBe(String(2 * count));
    await store.close();
  });

  it("show each other's commits as soon as they are acknowledged", async () => {
    const location = join(folder, "reply");
    const socket = `${location}.socket`;
    const rounds = 40;
    const leader = start("lead", location, "", "", "leader", socket);
    await leader.lines.next();
    const child = start("reply", location, "", String(rounds), "follower", socket);
    await child.lines.next();
    const store = await open(location);
    for (let round = 0; round < rounds; round += 2) {
      expect(await store.transact((tx) => increment(tx, k("round")))).toBe(round + 1);
      while ((await read(store, k("round"))) !== String(round + 2)) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await child.ended;
    leader.process.kill("SIGKILL");
    await store.close();
  });
});

describe("a process that is killed", () => {
  // Each round kills at another moment relative to the batches in flight.
  const rounds = [40, 170, 301, 555];

  it.each(rounds)("as leader after %i writes loses and repeats no write", async (count) => {
    const location = join(folder, `leader-${count}`);
    const [leader, follower] = await startBoth("hammer", location);
    const before = await readLines(follower, count);
    leader.process.kill("SIGKILL");
    const byLeader = await readLines(leader, Infinity);
    const after = await readLines(follower, 200);
    follower.process.kill("SIGKILL");
    const rest = await readLines(follower, Infinity);
    await follower.ended;
    const store = await open(location);
    const acknowledged = [...before, ...after, ...rest];
    expect(after).toHaveLength(200);
    for (const [name, lines] of Object.entries({ leader: byLeader, follower: acknowledged })) {
      const { values: stored, count: applied } = await storedBy(store, name);
      expect(lines.filter((each) => !stored.has(each))).toEqual([]);
      expect(applied).toBe(stored.size);
    }
    await store.close();
  });

  it("as follower leaves the leader working", async () => {
    const location = join(folder, "follower");
    const [leader, follower] = await startBoth("hammer", location);
    const acknowledged = await readLines(follower, 150);
    follower.process.kill("SIGKILL");
    acknowledged.push(...(await readLines(follower, Infinity)));
    const byLeader = await readLines(leader, 300);
    leader.process.kill("SIGKILL");
    await leader.ended;
    const store = await open(location);
    const { values: stored, count: applied } = await storedBy(store, "follower");
    expect(byLeader).toHaveLength(300);
    expect(acknowledged.filter((each) => !stored.has(each))).toEqual([]);
    expect(applied).toBe(stored.size);
    await store.close();
  });
});
