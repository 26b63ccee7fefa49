import { describe, expect, it } from "vitest";

import { manualClock } from "./manual-clock.ts";
import { openMemoryStore } from "./memory/open-memory-store.ts";
import { openNodes, heartbeatTimeoutMilliseconds } from "./nodes.ts";
import type { Processes } from "./processes.ts";
import { silentLog } from "./silent-log.ts";
import type { Store } from "./store.ts";

const stepMilliseconds = 1_000;

/** A node with a clock of its own, which a test stops to pause the node. */
async function join(store: Store, self: string, givenUp: Set<string>) {
  const clock = manualClock();
  const giveUp = async (node: string): Promise<void> => void givenUp.add(node);
  const nodes = await openNodes({ store, self, clock, log: silentLog, fence: giveUp });
  return { nodes, clock };
}

type Joined = Awaited<ReturnType<typeof join>>;

async function pass(milliseconds: number, running: readonly Joined[]): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += stepMilliseconds) {
    for (const { clock } of running) clock.advance(stepMilliseconds);
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

const idsOf = async (nodes: Processes): Promise<string[]> =>
  (await nodes.live()).map(({ id }) => id);

describe("nodes", () => {
  it("list each other with what they published", async () => {
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

  it("give up one that is silent for long, not before, and before it is left out", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const givenUp = new Set<string>();
    const [one] = [await join(store, "a", givenUp), await join(store, "b", givenUp)];
    await pass(heartbeatTimeoutMilliseconds, [one]);
    expect(await idsOf(one.nodes)).toEqual(["a", "b"]);
    expect([...givenUp]).toEqual([]);
    await pass(10_000, [one]);
    expect(await idsOf(one.nodes)).toEqual(["a"]);
    expect([...givenUp]).toEqual(["b"]);
  });

  it("blame nobody for the time in which they could not listen", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const givenUp = new Set<string>();
    const [one, other] = [await join(store, "a", givenUp), await join(store, "b", givenUp)];
    await pass(10_000, [one, other]);
    // As after a pause of this node: time has passed, and nothing was looked at.
    one.clock.advance(4 * heartbeatTimeoutMilliseconds);
    expect(await idsOf(one.nodes)).toEqual(["a", "b"]);
    expect([...givenUp]).toEqual([]);
  });
});
