import { expect, it } from "vitest";

import type { ReclaimJob } from "./effects.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import { enqueueJob, reclaimJobs } from "./reclaim-jobs.ts";

const jobs: readonly ReclaimJob[] = [
  { kind: "a", scope: [1n], due: 5n },
  { kind: "a", scope: [1n], due: 5n },
  { kind: "a", scope: [1n], due: 6n },
  { kind: "a", scope: [2n], due: 6n },
  { kind: "a", scope: [2n, 3n], due: 6n },
  { kind: "b", scope: [2n, 3n], due: 6n },
  { kind: "b", scope: [2n, 3n], due: 6n },
];

it("a job that is requested twice is stored once, other jobs separately", async () => {
  const store = openMemoryStore({ clock: manualClock() });
  await store.transact(async (tx) => {
    for (const job of jobs) enqueueJob(tx, job, tx.now);
  });
  const bounds = { ...reclaimJobs.range([]), limit: 99 };
  const found = await store.snapshot((view) => view.readHead(bounds));
  const distinct = [0, 2, 3, 4, 5].map((index) => jobs[index]);
  expect(found.map(({ value }) => reclaimJobs.codec.decode(value))).toEqual(distinct);
  await store.close();
});

it("a job without a due time is due at the time of each request", async () => {
  const store = openMemoryStore({ clock: manualClock() });
  await store.transact(async (tx) => {
    for (const now of [7n, 8n]) enqueueJob(tx, { kind: "a", scope: [1n] }, now);
  });
  const bounds = { ...reclaimJobs.range([]), limit: 99 };
  const found = await store.snapshot((view) => view.readHead(bounds));
  expect(found).toHaveLength(2);
  await store.close();
});
