import { expect, it } from "vitest";

import { k, put } from "./conformance/store-steps.ts";
import { manualClock } from "./manual-clock.ts";
import { openMemoryStore } from "./memory/open-memory-store.ts";
import { silentLog } from "./silent-log.ts";

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
