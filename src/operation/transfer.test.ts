import { expect, it } from "vitest";
import { memoryFiles } from "../content/memory-files.ts";
import { openContentStore } from "../content/open-content.ts";
import { soloPins } from "../content/pins.ts";
import type { TransferEnd, TransferHandler } from "./transfer-handler.ts";
import { manualClock } from "../store/manual-clock.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import { silentLog } from "../store/silent-log.ts";
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
  const pins = soloPins("memory");
  const parts = { store, files, pins, clock, log: silentLog, contentTables: [] };
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

const nobody: ReadonlySet<string> = new Set();

it("one process takes a job on; another only when the first has been silent for long", async () => {
  const { clock, transfers } = await setUp();
  const job = await claimTransfer(transfers, nobody);
  expect(job?.attempts).toBe(1);
  expect(await claimTransfer(transfers, nobody)).toBeUndefined();
  clock.advance(10_000);
  await renewClaim(transfers, "a");
  clock.advance(10_000);
  expect(await claimTransfer(transfers, nobody)).toBeUndefined();
  clock.advance(10_000);
  expect((await claimTransfer(transfers, nobody))?.attempts).toBe(2);
});

it("a job that was left is taken on at once, but not by whoever is at it", async () => {
  const { transfers } = await setUp();
  const job = await claimTransfer(transfers, nobody);
  if (job === undefined) throw new Error("there was a job");
  await releaseTransfer(transfers, job);
  expect(await claimTransfer(transfers, new Set(["a"]))).toBeUndefined();
  expect((await claimTransfer(transfers, nobody))?.id).toBe("a");
});

it("ends once, and not at all if it was dropped", async () => {
  const { transfers, ends } = await setUp();
  const job = await claimTransfer(transfers, nobody);
  if (job === undefined) throw new Error("there was a job");
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
