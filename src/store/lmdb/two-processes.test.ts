import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { expectSerialOrder } from "../../../tests/harness/store/queue-steps.ts";
import { secondProcess } from "../../../tests/harness/store/start-second-process.ts";
import {
  below,
  bytes,
  increment,
  k,
  put,
  read,
  values,
} from "../../../tests/harness/store/store-steps.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import type { Store } from "../store.ts";
import { openLmdbStore } from "./open-lmdb-store.ts";
import { inForm } from "../../../tests/harness/long-form.ts";

const folder = mkdtempSync(join(tmpdir(), "two-processes-"));
const start = secondProcess();
afterAll(() => rmSync(folder, { recursive: true }));

async function dequeuedIn(lines: AsyncIterator<string>): Promise<string[]> {
  const dequeued: string[] = [];
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
    if (line.value.startsWith("took ")) dequeued.push(line.value);
  }
  return dequeued;
}

const open = (location: string, clock = manualClock()): Promise<Store> =>
  openLmdbStore({ location, clock, log: silentLog, volatilePrefix: k("volatile") });

describe("a process whose disk is full", () => {
  it("rejects writes, still reads, and writes again once there is space", async () => {
    const location = join(folder, "full");
    // A limit on the file size, in blocks of 512 bytes, makes writes fail as on a full disk.
    const limited = `ulimit -f 24000 && exec "$0" "$@" 2>/dev/null`;
    const args = [limited, process.execPath, start.script, "fill", location];
    const output = execFileSync("sh", ["-c", ...args], { encoding: "utf8" });
    const count = /StoreFull after (\d+)/.exec(output)?.[1] ?? "";
    expect(Number(count)).toBeGreaterThan(10);
    expect(output).toBe(`open\nStoreFull after ${count}\nreads ${count}\nbody undefined\nclosed\n`);
    const store = await open(location);
    expect(await read(store, k("count"))).toBe(count);
    expect(await read(store, k("small"))).toBe("written later");
    await store.close();
  });
});

describe("two processes at one location", () => {
  it("lose no update on shared keys and on keys of their own", async () => {
    const location = join(folder, "increment");
    const count = inForm(320, 800);
    const both = ["left", "right"].map((name) => start("increment", location, name, String(count)));
    const ended = await Promise.all(both.map((child) => child.ended));
    expect(ended.map((each) => (each as unknown[])[0])).toEqual([0, 0]);
    const store = await open(location);
    expect(await read(store, k("shared"))).toBe(String(2 * count));
    expect(await read(store, k("own", "left"))).toBe(String(count));
    expect(await read(store, k("own", "right"))).toBe(String(count));
    await store.close();
  });

  it("dequeue each entry of a queue exactly once", async () => {
    const location = join(folder, "take");
    const count = inForm(300, 1200);
    const store = await open(location);
    await store.transact(async (tx) => {
      for (let index = 0; index < count; index += 1) tx.put(k("queue", index), bytes(`${index}`));
    });
    const both = ["left", "right"].map((name) => start("take", location, name, String(count)));
    const dequeued = (await Promise.all(both.map(({ lines }) => dequeuedIn(lines)))).flat();
    expect(dequeued).toHaveLength(count);
    expect(new Set(dequeued).size).toBe(count);
    expect(await store.snapshot((view) => values(view, below("queue")))).toEqual([]);
    await store.close();
  });

  it("run random queue operations as if serially", async () => {
    const location = join(folder, "queue");
    const count = inForm(250, 1000);
    const both = ["left", "right"].map((name) => start("queue", location, name, String(count)));
    const ended = await Promise.all(both.map((child) => child.ended));
    expect(ended.map((each) => (each as unknown[])[0])).toEqual([0, 0]);
    const store = await open(location);
    await expectSerialOrder(store, 2 * count);
    await store.close();
  });

  it("lose no update of a volatile key either", async () => {
    const location = join(folder, "mixed");
    const count = inForm(320, 800);
    const both = ["left", "right"].map((name) => start("mixed", location, name, String(count)));
    const ended = await Promise.all(both.map((child) => child.ended));
    expect(ended.map((each) => (each as unknown[])[0])).toEqual([0, 0]);
    const store = await open(location);
    expect(await read(store, k("volatile", "shared"))).toBe(String(2 * count));
    expect(await read(store, k("own", "left"))).toBe(String(count / 2));
    await store.close();
  });

  it("see each other's commits as soon as they are acknowledged", async () => {
    const location = join(folder, "reply");
    const rounds = 40;
    const child = start("reply", location, "", String(rounds));
    await child.lines.next();
    const store = await open(location);
    for (let round = 0; round < rounds; round += 2) {
      expect(await store.transact((tx) => increment(tx, k("round")))).toBe(round + 1);
      while ((await read(store, k("round"))) !== String(round + 2)) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    await child.ended;
    await store.close();
  });

  it("see each other's commits even within an event-loop iteration with an open view", async () => {
    const location = join(folder, "iteration");
    const store = await open(location);
    await store.snapshot(async (view) => {
      execFileSync(process.execPath, [start.script, "put", location, "late"]);
      expect(await read(store, k("late"))).toBe("by the child");
      expect(await view.get(k("late"))).toBeUndefined();
    });
    await store.close();
  });

  it("call their watchers after each other's commits", async () => {
    const location = join(folder, "watch");
    const clock = manualClock();
    const store = await open(location, clock);
    let calls = 0;
    store.watch(k("watched"), () => {
      calls += 1;
    });
    await start("put", location, "watched").ended;
    clock.advance(20);
    await Promise.resolve();
    expect(calls).toBe(1);
    clock.advance(500);
    await Promise.resolve();
    expect(calls).toBe(1);
    await store.close();
  });

  it("do not call watchers of other tables after each other's commits", async () => {
    const location = join(folder, "tables");
    const clock = manualClock();
    const [store, other] = [await open(location, clock), await open(location, clock)];
    const calls: string[] = [];
    store.watch(new Uint8Array([0x41]), () => void calls.push("a"));
    store.watch(new Uint8Array([0x42, 1]), () => void calls.push("b"));
    const write = (to: Store, ...key: readonly number[]): Promise<void> =>
      to.transact((tx) => tx.put(new Uint8Array(key), new Uint8Array(1)));
    await write(other, 0x41, 1);
    await write(store, 0x43);
    expect(calls).toEqual(["a"]);
    await write(other, 0x42, 9);
    clock.advance(20);
    await Promise.resolve();
    expect(calls).toEqual(["a", "b"]);
    await write(store, 0x42, 9);
    clock.advance(20);
    await Promise.resolve();
    expect(calls).toEqual(["a", "b"]);
    await Promise.all([store.close(), other.close()]);
  });

  it("keep acknowledged writes when one of them is killed", async () => {
    const location = join(folder, "kill");
    const other = await open(location);
    for (let round = 0; round < inForm(1, 3); round += 1) {
      const child = start("hammer", location, String(round));
      const acknowledged: string[] = [];
      for (let line = await child.lines.next(); !line.done; line = await child.lines.next()) {
        if (line.value !== "open") acknowledged.push(line.value);
        if (acknowledged.length === 300) child.process.kill("SIGKILL");
      }
      await child.ended;
      await put(other, k("other", round), "still writable");
      const bounds = below("hammered", String(round));
      const stored = new Set(await other.snapshot((view) => values(view, bounds)));
      expect(acknowledged.length).toBeGreaterThanOrEqual(300);
      expect(acknowledged.filter((each) => !stored.has(each))).toEqual([]);
    }
    await other.close();
  });
});
