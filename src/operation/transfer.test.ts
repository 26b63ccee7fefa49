import { expect, it } from "vitest";
import { memoryFiles } from "../content/extents/memory-files.ts";
import { openContentStore } from "../content/open-content.ts";
import { soloHorizons } from "../content/reclaim/pins.ts";
import type { TransferEnd, TransferHandler } from "./transfer-handler.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import { silentLog } from "../../tests/harness/silent-log.ts";
import { applyEffects } from "./apply.ts";
import {
  claimTransfer,
  dropTransfer,
  endTransfer,
  renewClaim,
  startTransfer,
  releaseTransfer,
} from "./transfer.ts";

async function setUp() {
  const clock = manualClock();
  const store = openMemoryStore({ clock });
  const files = memoryFiles({ bytesMax: 1024 * 1024 });
  const horizons = soloHorizons("memory");
  const parts = { store, files, horizons, clock, log: silentLog, contentTables: [] };
  const content = await openContentStore(parts);
  const ends: TransferEnd[] = [];
  const handler: TransferHandler = {
    progress: async () => [],
    finish: async (_view, _job, end) => {
      ends.push(end);
      return [];
    },
  };
  const transfers = { store, content, handlers: new Map([["test", handler]]) };
  const effect = startTransfer({ id: "a", kind: "test", scope: [], url: "http://h/", headers: {} });
  await store.transact((tx) => applyEffects(content, tx, [effect], tx.now));
  return { clock, transfers, ends };
}

const noJobs: ReadonlySet<string> = new Set();

it("one process claims a job; another only when the claim has expired", async () => {
  const { clock, transfers } = await setUp();
  const job = await claimTransfer(transfers, noJobs);
  expect(job?.attempts).toBe(1);
  expect(await claimTransfer(transfers, noJobs)).toBeUndefined();
  clock.advance(10_000);
  await renewClaim(transfers, "a");
  clock.advance(10_000);
  expect(await claimTransfer(transfers, noJobs)).toBeUndefined();
  clock.advance(10_000);
  expect((await claimTransfer(transfers, noJobs))?.attempts).toBe(2);
});

it("a released job is claimed at once, but not by the process that still works on it", async () => {
  const { transfers } = await setUp();
  const job = await claimTransfer(transfers, noJobs);
  if (job === undefined) throw new Error("no job was claimed");
  await releaseTransfer(transfers, job);
  expect(await claimTransfer(transfers, new Set(["a"]))).toBeUndefined();
  expect((await claimTransfer(transfers, noJobs))?.id).toBe("a");
});

it("a transfer ends once, and not at all if it was dropped", async () => {
  const { transfers, ends } = await setUp();
  const job = await claimTransfer(transfers, noJobs);
  if (job === undefined) throw new Error("no job was claimed");
  const failed = { ended: "failed", description: "gone" } as const;
  expect(await endTransfer(transfers, job, failed)).toBe(true);
  expect(await endTransfer(transfers, job, failed)).toBe(false);
  expect(ends).toEqual([failed]);
  const { store, content } = transfers;
  const again = startTransfer({ ...job, id: "b" });
  await store.transact((tx) => applyEffects(content, tx, [again], tx.now));
  await store.transact((tx) => applyEffects(content, tx, [dropTransfer("b")], tx.now));
  expect(await endTransfer(transfers, { ...job, id: "b" }, failed)).toBe(false);
});
