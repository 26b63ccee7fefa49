import { describe, expect, test } from "vitest";
import { manualClock } from "../store/manual-clock.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import { openProcesses } from "../store/processes.ts";
import { StoreBusy } from "../store/store.ts";
import { Ids } from "./ids.ts";
import { PinBoard, sharedPins } from "./pins.ts";

const second = 10_000_000n;

describe("what a process promises not to look at", () => {
  test("follows the states it knows, but only once their views are over", () => {
    const clock = manualClock();
    const board = new PinBoard(clock, 5n * second);
    expect(board.promise(10)).toBe(0);
    clock.advance(4000);
    expect(board.promise(20)).toBe(0);
    clock.advance(1000);
    expect(board.promise(30)).toBe(10);
    clock.advance(4000);
    expect(board.promise(40)).toBe(20);
  });

  test("never passes a pin, and goes on when the last one is gone", () => {
    const board = new PinBoard(manualClock(), 0n);
    const unpinFirst = board.pin(5);
    const unpinSecond = board.pin(5);
    board.pin(8);
    expect(board.promise(20)).toBe(5);
    unpinFirst();
    unpinFirst();
    expect(board.promise(21)).toBe(5);
    unpinSecond();
    expect(board.promise(22)).toBe(8);
    expect(() => board.pin(7)).toThrow(StoreBusy);
  });

  test("moves on however often it is asked within the age of a view", () => {
    const clock = manualClock();
    const board = new PinBoard(clock, 5n * second);
    let promised = 0;
    for (let round = 1; round <= 2000; round += 1) {
      clock.advance(10);
      promised = board.promise(round);
    }
    expect(promised).toBeGreaterThan(1000);
    expect(promised).toBeLessThanOrEqual(1500);
  });
});

test("processes see each other's promises, and none of the dead", async () => {
  const store = openMemoryStore({ clock: manualClock() });
  const alive = new Set([1, 2]);
  const open = (pid: number) =>
    openProcesses({
      store,
      self: { pid, startTime: "0" },
      isAlive: (each) => alive.has(each.pid),
    });
  const first = sharedPins(await open(1));
  const other = sharedPins(await open(2));
  await first.publish(7);
  expect(await other.published()).toEqual(
    new Map([
      [first.self, 7],
      [other.self, 0],
    ]),
  );
  alive.delete(1);
  expect(await other.published()).toEqual(new Map([[other.self, 0]]));
});

test("ids differ between processes and fit a signed integer", async () => {
  const store = openMemoryStore({ clock: manualClock() });
  const all = new Set<bigint>();
  for (let run = 0; run < 5; run += 1) {
    const ids = await Ids.open(store);
    for (let draw = 0; draw < 100; draw += 1) all.add(ids.next());
  }
  expect(all.size).toBe(500);
  for (const id of all) expect(BigInt.asIntN(64, id)).toBe(id);
});
