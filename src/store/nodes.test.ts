import { describe, expect, it } from "vitest";

import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "./memory/open-memory-store.ts";
import { openNodes, heartbeatTimeoutMilliseconds } from "./nodes.ts";
import type { Processes } from "./processes.ts";
import { silentLog } from "../../tests/harness/silent-log.ts";
import { NodeFenced, StoreUnavailable, type Store } from "./store.ts";

const stepMilliseconds = 1_000;

/** A server node with its own clock; a test pauses the node by not advancing it. */
async function join(store: Store, self: string, fenced: Set<string>) {
  const clock = manualClock();
  const giveUp = async (node: string): Promise<void> => void fenced.add(node);
  const assertNotFenced = async (): Promise<void> => {
    if (fenced.has(self)) throw new NodeFenced("fenced");
  };
  const options = { store, self, clock, log: silentLog, fence: giveUp, assertNotFenced };
  const nodes = await openNodes(options);
  return { nodes, clock };
}

type Joined = Awaited<ReturnType<typeof join>>;

async function pass(milliseconds: number, running: readonly Joined[]): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += stepMilliseconds) {
    for (const { clock } of running) clock.advance(stepMilliseconds);
    for (let index = 0; index < 5; index += 1)
      await new Promise((resolve) => setImmediate(resolve));
  }
}

const idsOf = async (nodes: Processes): Promise<string[]> =>
  (await nodes.live()).map(({ id }) => id);

describe("nodes", () => {
  it("list each other with their published fields", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const [one, other] = [await join(store, "a", new Set()), await join(store, "b", new Set())];
    await other.nodes.publish({ oldest: 7 });
    expect((await one.nodes.live()).map(({ id, fields }) => [id, fields])).toEqual([
      ["a", {}],
      ["b", { oldest: 7 }],
    ]);
    await pass(2 * heartbeatTimeoutMilliseconds, [one, other]);
    expect(await idsOf(one.nodes)).toEqual(["a", "b"]);
    await other.nodes.close();
    expect(await idsOf(one.nodes)).toEqual(["a"]);
  });

  it("fence a node after the heartbeat timeout, not earlier, and before removing it from the list", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const fenced = new Set<string>();
    const [one] = [await join(store, "a", fenced), await join(store, "b", fenced)];
    await pass(heartbeatTimeoutMilliseconds, [one]);
    expect(await idsOf(one.nodes)).toEqual(["a", "b"]);
    expect([...fenced]).toEqual([]);
    await pass(10_000, [one]);
    expect(await idsOf(one.nodes)).toEqual(["a"]);
    expect([...fenced]).toEqual(["b"]);
  });

  it("learn from their next heartbeat that they were fenced, and send no more", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const fenced = new Set<string>();
    const [one, other] = [await join(store, "a", fenced), await join(store, "b", fenced)];
    await pass(heartbeatTimeoutMilliseconds + 10_000, [one]);
    expect([...fenced]).toEqual(["b"]);
    // It runs again, without a request that would commit something.
    await pass(10_000, [one, other]);
    expect(await idsOf(one.nodes)).toEqual(["a"]);
    let writes = 0;
    store.transact = () => {
      writes += 1;
      return Promise.reject(new StoreUnavailable("no more writes"));
    };
    await pass(20_000, [other]);
    expect(writes).toBe(0);
  });

  it("repeat a failed heartbeat after 1 s", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const one = await join(store, "a", new Set());
    let tries = 0;
    store.transact = () => {
      tries += 1;
      return Promise.reject(new StoreUnavailable("no response"));
    };
    await pass(10_000, [one]);
    expect(tries).toBe(6);
  });

  it("report to be cut off before another node fences them, also if they cannot learn of it", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const fenced = new Set<string>();
    const [one, other] = [await join(store, "a", fenced), await join(store, "b", fenced)];
    const cutOff: number[] = [];
    other.nodes.onCutOff(() => void cutOff.push(fenced.size));
    await pass(10_000, [one, other]);
    const transact = store.transact.bind(store);
    // Its heartbeats wait for a database that does not answer.
    store.transact = () => new Promise(() => undefined);
    await pass(5000, [other]);
    store.transact = transact;
    await pass(heartbeatTimeoutMilliseconds, [one, other]);
    expect([cutOff, [...fenced]]).toEqual([[0], []]);
    await pass(10_000, [one, other]);
    expect([cutOff, [...fenced]]).toEqual([[0], ["b"]]);
  });

  it("report to be cut off each time their heartbeats fail for long, or if they are fenced", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const fenced = new Set<string>();
    const one = await join(store, "a", fenced);
    let cutOff = 0;
    one.nodes.onCutOff(() => void (cutOff += 1));
    const transact = store.transact.bind(store);
    for (const time of [1, 2]) {
      store.transact = () => Promise.reject(new StoreUnavailable("no response"));
      await pass(2 * heartbeatTimeoutMilliseconds, [one]);
      expect(cutOff).toBe(time);
      store.transact = transact;
      await pass(heartbeatTimeoutMilliseconds, [one]);
      expect(cutOff).toBe(time);
    }
    fenced.add("a");
    await pass(10_000, [one]);
    expect(cutOff).toBe(3);
    await pass(2 * heartbeatTimeoutMilliseconds, [one]);
    expect(cutOff).toBe(3);
  });

  it("fence no node for a period in which they could not read the store", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const fenced = new Set<string>();
    const [one, other] = [await join(store, "a", fenced), await join(store, "b", fenced)];
    await pass(10_000, [one, other]);
    // As after a pause of this node: time has passed without an observation.
    one.clock.advance(4 * heartbeatTimeoutMilliseconds);
    expect(await idsOf(one.nodes)).toEqual(["a", "b"]);
    expect([...fenced]).toEqual([]);
  });
});
