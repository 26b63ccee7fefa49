import { spawn } from "node:child_process";
import { once } from "node:events";

import { describe, expect, it } from "vitest";

import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "./memory/open-memory-store.ts";
import { identifyProcess, isAlive, openProcesses } from "./processes.ts";

describe("processes", () => {
  it("lists running processes with their published fields, and removes ended ones", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const dead = new Set<number>();
    const isRunning = ({ pid }: { pid: number }): boolean => !dead.has(pid);
    const join = (pid: number): ReturnType<typeof openProcesses> =>
      openProcesses({ store, self: { pid, startTime: "9" }, isAlive: isRunning });
    const [first, second] = [await join(1), await join(2)];
    await second.publish({ oldestSequence: 17 });
    const seen = await first.live();
    expect(seen.map(({ id, fields }) => [id, fields])).toEqual([
      [first.self, {}],
      [second.self, { oldestSequence: 17 }],
    ]);
    dead.add(2);
    expect((await first.live()).map(({ id }) => id)).toEqual([first.self]);
    expect(await first.sweep()).toEqual([second.self]);
    expect(await first.sweep()).toEqual([]);
    await first.close();
    expect(await second.live()).toEqual([]);
  });

  it("distinguishes two openings by one process", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    const [first, second] = [await openProcesses({ store }), await openProcesses({ store })];
    expect(first.self).not.toBe(second.self);
    await first.publish({ oldestSequence: 3 });
    await second.publish({ oldestSequence: 5 });
    expect(await second.sweep()).toEqual([]);
    await second.close();
    const left = await first.live();
    expect(left.map(({ id, fields }) => [id, fields])).toEqual([
      [first.self, { oldestSequence: 3 }],
    ]);
  });

  it("distinguishes a running process from an ended one and from one with a reused id", async () => {
    expect(isAlive(identifyProcess(process.pid))).toBe(true);
    expect(isAlive({ pid: process.pid, startTime: "1" })).toBe(false);
    const child = spawn(process.execPath, ["-e", "process.stdin.resume()"]);
    const identity = identifyProcess(child.pid ?? 0);
    expect(isAlive(identity)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(isAlive(identity)).toBe(false);
  });
});
