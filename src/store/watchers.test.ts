import { expect, it } from "vitest";

import { k, put } from "./conformance/store-steps.ts";
import { manualClock } from "./manual-clock.ts";
import { openMemoryStore } from "./memory/open-memory-store.ts";
import { silentLog } from "./silent-log.ts";
import { nothingRead } from "./transactional-store.ts";
import { Watchers } from "./watchers.ts";

it("logs a watcher that throws, and calls the others all the same", async () => {
  const failures: object[] = [];
  const log = { ...silentLog, error: (fields: object) => void failures.push(fields) };
  const store = openMemoryStore({ clock: manualClock(), log });
  const mistake = new Error("a mistake in a watcher");
  let calls = 0;
  store.watch(k("w"), () => {
    throw mistake;
  });
  store.watch(k("w"), () => {
    calls += 1;
  });
  await put(store, k("w", 1), "1");
  await put(store, k("w", 2), "2");
  expect(calls).toBe(2);
  expect(failures).toEqual([{ err: mistake }, { err: mistake }]);
  await store.close();
});

it("outlives an engine that fails while it is polled, says so once, and goes on", async () => {
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
  const clock = manualClock();
  const trouble = new Error("no file descriptors left");
  let sequence = 1;
  let isBroken = false;
  const open = () => {
    if (isBroken) throw trouble;
    return { ...nothingRead, get: () => undefined, scan: () => [], sequence, close: () => {} };
  };
  const unused = () => Promise.reject(new Error("nobody commits or closes here"));
  const watchers = new Watchers({ open, commit: unused, close: unused }, clock, log);
  let calls = 0;
  watchers.watch(k("w"), () => void (calls += 1));
  isBroken = true;
  sequence = 2;
  clock.advance(1000);
  expect(warnings).toEqual([{ err: trouble }]);
  isBroken = false;
  clock.advance(50);
  await Promise.resolve();
  expect(calls).toBe(1);
  isBroken = true;
  clock.advance(100);
  expect(warnings).toHaveLength(2);
  watchers.stop();
});
