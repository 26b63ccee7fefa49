import { readFileSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import fc from "fast-check";

import { ticksPerSecond, unixEpochTicks } from "../../../src/base/ticks.ts";
import type { Clock } from "../../../src/base/world.ts";
import { queueStep, runQueueStep } from "./queue-steps.ts";
import { below, bytes, increment, k, put, read, text } from "./store-steps.ts";
import { openLmdbStore } from "../../../src/store/lmdb/open-lmdb-store.ts";
import { silentLog } from "../silent-log.ts";
import type { Store, Transaction } from "../../../src/store/store.ts";

/** The second process of tests with two processes: runs the mode in its first argument, and reports
 *  to standard output in lines. */
const [mode = "", location = "", name = "", count = "0"] = process.argv.slice(2);
const callers = 8;
/** Concurrent callers of the queue test: enough that a batch contains a conflict and transactions
 *  that depend on it. */
const queueCallers = 25;
const hammeredMax = 1_000_000;

const clock: Clock = {
  bootId: "boot-1",
  monotonic: () => BigInt(Math.round(Number(uptimeSeconds()) * Number(ticksPerSecond))),
  wall: () => unixEpochTicks,
  after: (milliseconds, run) => {
    const canceller = new AbortController();
    const { signal } = canceller;
    void delay(milliseconds, undefined, { signal, ref: false }).then(run, () => undefined);
    return () => canceller.abort();
  },
  nextIteration: (run) => void setImmediate(run),
};

function uptimeSeconds(): string {
  return readFileSync("/proc/uptime", "latin1").split(" ")[0] ?? "0";
}

function report(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Increments, alternately, a key that both processes share and a key of its own. */
async function incrementBoth(store: Store): Promise<void> {
  const each = Number(count) / callers;
  const caller = async (): Promise<void> => {
    for (let round = 0; round < each; round += 1) {
      await store.transact((tx) => increment(tx, k("shared")));
      await store.transact((tx) => increment(tx, k("own", name)));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Increments one counter alternately in commits that are flushed and in commits that are not. */
async function incrementMixed(store: Store): Promise<void> {
  const each = Number(count) / callers / 2;
  const caller = async (): Promise<void> => {
    for (let round = 0; round < each; round += 1) {
      await store.transact((tx) => increment(tx, k("volatile", "shared")));
      await store.transact(async (tx) => {
        await increment(tx, k("own", name));
        await increment(tx, k("volatile", "shared"));
      });
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Deletes the first entry of a queue that both processes share, repeatedly, and reports it. */
async function dequeueAll(store: Store): Promise<void> {
  const dequeue = (): Promise<string | undefined> =>
    store.transact(
      async (tx) => {
        const [first] = await tx.readHead({ ...below("queue"), limit: 1 });
        if (first !== undefined) tx.delete(first.key);
        return text(first?.value);
      },
      { runInBatch: true },
    );
  const caller = async (): Promise<void> => {
    for (let round = 0; round < Number(count); round += 1) {
      const entry = await dequeue();
      if (entry === undefined) return;
      report(`took ${entry}`);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Runs random steps on a queue that both processes share, and records each. */
async function runSteps(store: Store): Promise<void> {
  const steps = fc.sample(queueStep, { numRuns: Number(count), seed: name.length });
  const each = steps.length / queueCallers;
  const caller = async (_: unknown, number: number): Promise<void> => {
    for (const [index, step] of steps.slice(number * each, (number + 1) * each).entries()) {
      await runQueueStep(store, step, `${name} ${number} ${index}`);
    }
  };
  await Promise.all(Array.from({ length: queueCallers }, caller));
}

/** Reports each write after it was acknowledged, until the process is killed. Counts the writes: a
 *  write that is applied twice shows in the count. */
async function hammer(store: Store): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < hammeredMax) {
      next += 1;
      const index = next;
      await store.transact(async (tx) => {
        tx.put(k("hammered", name, index), bytes(String(index)));
        tx.add(k("count", name), 1n);
      });
      report(String(index));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Replies to the other process: writes `2n` after it has read `2n - 1`. */
async function reply(store: Store): Promise<void> {
  for (let round = 1; round <= Number(count); round += 2) {
    while ((await read(store, k("round"))) !== String(round)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await put(store, k("round"), String(round + 1));
  }
}

/** Writes until the disk is full, then checks that reads and reserved space still work. */
async function fill(store: Store): Promise<void> {
  const body = "x".repeat(20_000);
  let index = 0;
  try {
    for (; index < hammeredMax; index += 1) {
      await store.transact(async (tx) => {
        await increment(tx, k("count"));
        tx.put(k("body", index), bytes(body));
      });
    }
  } catch (error) {
    report(`${error instanceof Error ? error.name : "?"} after ${index}`);
  }
  report(`reads ${await read(store, k("count"))}`);
  report(`body ${await read(store, k("body", index))}`);
  // The reserve for transactions that free space is still available.
  const small = async (tx: Transaction): Promise<void> =>
    tx.put(k("small"), bytes("written later"));
  await store.transact(small, { mayUseReserve: true });
}

const volatilePrefix = k("volatile");
const store = await openLmdbStore({ location, clock, log: silentLog, volatilePrefix });
report("open");
if (mode === "increment") await incrementBoth(store);
else if (mode === "take") await dequeueAll(store);
else if (mode === "queue") await runSteps(store);
else if (mode === "mixed") await incrementMixed(store);
else if (mode === "hammer") await hammer(store);
else if (mode === "fill") await fill(store);
else if (mode === "reply") await reply(store);
else await put(store, k(name), "by the child");
await store.close();
report("closed");
