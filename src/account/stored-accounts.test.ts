import { expect, it } from "vitest";
import { silentLog } from "../../tests/harness/silent-log.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { memoryEngine } from "../store/memory/open-memory-store.ts";
import { TransactionalStore } from "../store/transactional-store.ts";
import { accountsState } from "./account-record.ts";
import { StoredAccounts } from "./stored-accounts.ts";

it("reports a change to every request that was rejected before it was read", async () => {
  const store = new TransactionalStore({ engine: memoryEngine(), clock: manualClock() });
  const stored = new StoredAccounts(store, silentLog);
  await store.transact(async (tx) => {
    tx.put(accountsState.key("accounts"), accountsState.codec.encode({ revision: 1n, count: 0 }));
  });
  // The second call waits for a second refresh, which finds what the first has read.
  expect(await Promise.all([stored.refresh(), stored.refresh()])).toEqual([true, true]);
  expect(await stored.refresh()).toBe(false);
  await store.close();
});
