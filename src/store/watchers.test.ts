import { expect, it } from "vitest";

import { k, put } from "../../tests/harness/store/store-steps.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "./memory/open-memory-store.ts";
import { silentLog } from "../../tests/harness/silent-log.ts";
import { emptyState } from "./transactional-store.ts";
import { Watchers } from "./watchers.ts";

it("logs the exception of a watcher and still calls the others", async () => {
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

it("logs a failing poll once and continues polling", async () => {
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
  const clock = manualClock();
  const trouble = new Error("no file descriptors left");
  let sequence = 1;
  let isBroken = false;
  const open = () => {
    if (isBroken) throw trouble;
    return { ...emptyState, get: () => undefined, scan: () => [], sequence, close: () => {} };
  };
  const unused = () => Promise.reject(new Error("not used by this test"));
  const watchers = new Watchers({ engine: { open, commit: unused, close: unused }, clock, log });
  let calls = 0;
  watchers.watch(k("w"), () => void (calls += 1));
  isBroken = true;
  sequence = 2;
  clock.advance(1000);
  expect(warnings).toEqual([{ err: trouble }]);
  isBroken = false;
  clock.advance(20);
  await Promise.resolve();
  expect(calls).toBe(1);
  isBroken = true;
  clock.advance(100);
  expect(warnings).toHaveLength(2);
  watchers.stop();
});
