import { readFileSync, writeSync } from "node:fs";

import fc from "fast-check";

import { ticksPerSecond, unixEpochTicks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import { lineStep, runLineStep } from "./line-steps.ts";
import { below, bytes, increment, k, put, read, text } from "./store-steps.ts";
import { openLmdbStore } from "../lmdb/open-lmdb-store.ts";
import { silentLog } from "../silent-log.ts";
import type { Store, Transaction } from "../store.ts";

/** The other process of the tests with two: does what its arguments say and reports in lines. */
const [mode = "", location = "", name = "", count = "0"] = process.argv.slice(2);
const callers = 8;
/** Enough for a batch to hold some that lean on one that falls. */
const lineCallers = 25;
const hammeredMax = 1_000_000;

/** Only uptime is needed here; nothing waits for a timer. */
const clock: Clock = {
  bootId: "boot-1",
  monotonic: () => BigInt(Math.round(Number(uptimeSeconds()) * Number(ticksPerSecond))),
  wall: () => unixEpochTicks,
  after: () => () => undefined,
};

function uptimeSeconds(): string {
  return readFileSync("/proc/uptime", "latin1").split(" ")[0] ?? "0";
}

function report(line: string): void {
  writeSync(1, `${line}\n`);
}

/** Increments a key that both processes share and one of its own, in turns. */
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

/** The same count, now in a commit that is flushed and now in one that is not. */
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

/** Takes the first of a line that both processes share away, again and again, and reports it. */
async function takeAll(store: Store): Promise<void> {
  const takeFirst = (): Promise<string | undefined> =>
    store.transact(
      async (tx) => {
        const [first] = await tx.take({ ...below("line"), limit: 1 });
        if (first !== undefined) tx.delete(first.key);
        return text(first?.value);
      },
      { runInBatch: true },
    );
  const caller = async (): Promise<void> => {
    for (let round = 0; round < Number(count); round += 1) {
      const taken = await takeFirst();
      if (taken === undefined) return;
      report(`took ${taken}`);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Puts, takes and moves in a line that both processes share, each time with a witness. */
async function takeAndPut(store: Store): Promise<void> {
  const steps = fc.sample(lineStep, { numRuns: Number(count), seed: name.length });
  const each = steps.length / lineCallers;
  const caller = async (_: unknown, number: number): Promise<void> => {
    for (const [index, step] of steps.slice(number * each, (number + 1) * each).entries()) {
      await runLineStep(store, step, `${name} ${number} ${index}`);
    }
  };
  await Promise.all(Array.from({ length: lineCallers }, caller));
}

/** Reports each write after it was acknowledged, until killed. */
async function hammer(store: Store): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < hammeredMax) {
      next += 1;
      const index = next;
      await put(store, k("hammered", name, index), String(index));
      report(String(index));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

/** Answers the other process when it sees its turn: writes `2n` after it has seen `2n - 1`. */
async function answer(store: Store): Promise<void> {
  for (let turn = 1; turn <= Number(count); turn += 2) {
    while ((await read(store, k("turn"))) !== String(turn)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await put(store, k("turn"), String(turn + 1));
  }
}

/** Writes until the disk takes no more, then looks whether the rest still works. */
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
  // What is kept for transactions that free space is there to be used.
  const small = async (tx: Transaction): Promise<void> =>
    tx.put(k("small"), bytes("written later"));
  await store.transact(small, { mayUseReserve: true });
}

const volatilePrefix = k("volatile");
const store = await openLmdbStore({ location, clock, log: silentLog, volatilePrefix });
report("open");
if (mode === "increment") await incrementBoth(store);
else if (mode === "take") await takeAll(store);
else if (mode === "line") await takeAndPut(store);
else if (mode === "mixed") await incrementMixed(store);
else if (mode === "hammer") await hammer(store);
else if (mode === "fill") await fill(store);
else if (mode === "answer") await answer(store);
else await put(store, k(name), "by the child");
await store.close();
report("closed");
