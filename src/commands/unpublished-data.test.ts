import { expect, it } from "vitest";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { firstDueJob } from "../operation/reclaim-jobs.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import type { Store } from "../store/store.ts";
import { UnpublishedData } from "./unpublished-data.ts";

const job = { kind: "blob-container", scope: [1n] };

async function withData(test: (store: Store, data: UnpublishedData) => Promise<void>) {
  const store = openMemoryStore({ clock: manualClock() });
  const data = new UnpublishedData(store);
  await data.add([job]);
  await test(store, data);
  await store.close();
}

it("is deleted soon after a failure", () =>
  withData(async (store, data) => {
    expect(await store.snapshot(firstDueJob)).toBeUndefined();
    await data.abandon();
    expect((await store.snapshot(firstDueJob))?.job).toEqual(job);
  }));

it("stays if the failure was only the response of the transaction that published it", () =>
  withData(async (store, data) => {
    expect(await store.transact((tx) => data.keep(tx))).toBe(true);
    await data.abandon();
    expect(await store.snapshot(firstDueJob)).toBeUndefined();
  }));

it("cannot be published when its job is gone", () =>
  withData(async (store, data) => {
    await data.abandon();
    expect(await store.transact((tx) => data.keep(tx))).toBe(false);
  }));
