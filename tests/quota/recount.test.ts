import { expect, it } from "vitest";
import { ensureSettings } from "../../src/account/account-quota.ts";
import { accounts } from "../../src/account/account-record.ts";
import { accountsOf, developmentAccount } from "../../src/account/settings.ts";
import { accountUsage } from "../../src/operation/quotas.ts";
import { hasData } from "../../src/data/services.ts";
import { UsageCounts } from "../../src/data/usage-counts.ts";
import type { Store } from "../../src/store/store.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";
import { readQuotas } from "../harness/sim-service.ts";
import { usageOf } from "./quota-harness.ts";

const blockBlob = { "x-ms-blob-type": "BlockBlob" };
const noticeMilliseconds = 3000;

function put(sim: SimBlob, name: string, length: number): Promise<unknown> {
  const body = "d".repeat(length);
  return sim.send({ method: "PUT", path: `/ccc/${name}`, headers: blockBlob, body });
}

/** A store in which `act` runs after each snapshot that was read completely. */
function afterSnapshots({ store }: SimBlob, act: () => Promise<unknown>): Store {
  return {
    transact: (work, options) => store.transact(work, options),
    snapshot: async (work, options) => {
      const result = await store.snapshot(work, options);
      await act();
      return result;
    },
    watch: (prefix, onChange) => store.watch(prefix, onChange),
    raiseSequence: (to) => store.raiseSequence(to),
    close: () => store.close(),
  };
}

it("counts earlier bytes exactly, beside writes and deletions", async () => {
  const sim = await simBlob();
  const { runtime, clock, log } = sim;
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
  await sim.send({ method: "PUT", path: "/old?restype=container" });
  await put(sim, "before", 1000);
  await sim.send({ method: "PUT", path: "/old/x", headers: blockBlob, body: "d".repeat(700) });
  const quotaBytes = 1_000_000;
  const limited = accountsOf([{ ...developmentAccount(), quotaBytes }]);
  await ensureSettings(sim.store, limited, hasData);
  if (runtime.quotas === undefined) throw new Error("the runtime has no quotas");
  await readQuotas(sim.store, runtime.quotas);
  let writes = 0;
  const store = afterSnapshots(sim, async () => {
    writes += 1;
    await put(sim, `during${writes}`, 100);
    if (writes === 2) await sim.send({ method: "DELETE", path: "/old?restype=container" });
  });
  const counts = new UsageCounts({ store, content: runtime.content, clock, log });
  // All processes get time to notice the quota.
  expect(await counts.countNext()).toBe(false);
  clock.advance(noticeMilliseconds);
  expect(await counts.countNext()).toBe(true);
  await sim.reclaim();
  expect(writes).toBeGreaterThan(2);
  const bytes = 1000 + 100 * writes;
  expect(await usageOf(sim)).toEqual({ counter: bytes, counted: bytes });
});

it("counts once a day, and corrects a counter that is wrong", async () => {
  const sim = await simBlob({ quotaBytes: 1_000_000 });
  const { runtime, clock, log, store } = sim;
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
  await put(sim, "a", 1000);
  const counts = new UsageCounts({ store, content: runtime.content, clock, log });
  expect([await counts.countNext(), await counts.countNext()]).toEqual([true, false]);
  // As another program would that knows no counters.
  await store.transact(async (tx) => {
    const value = await tx.get(accounts.key("devstoreaccount1"));
    if (value !== undefined) tx.add(accountUsage.key(accounts.codec.decode(value).id), 5n);
  });
  expect(await usageOf(sim)).toEqual({ counter: 1005, counted: 1000 });
  clock.advance(25 * 3_600_000);
  expect(await counts.countNext()).toBe(true);
  expect(await usageOf(sim)).toEqual({ counter: 1000, counted: 1000 });
  expect(log.lines.map(({ message }) => message)).toContain("counted bytes of account corrected");
});
