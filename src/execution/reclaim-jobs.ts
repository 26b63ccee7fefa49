import type { ReclaimJob } from "../core/effects.ts";
import { recordCodec } from "../core/record.ts";
import { defineTable } from "../core/table.ts";
import type { Ticks } from "../core/ticks.ts";
import type { Transaction } from "../store/store.ts";

const jobs = defineTable<{ at: Ticks; kind: string; scope: string }, ReclaimJob>({
  name: "reclaim-jobs",
  tag: 0x02,
  key: ({ at, kind, scope }) => [at, kind, scope],
  codec: recordCodec<ReclaimJob>({ version: 1 }),
});

/** Jobs lie in the order of their making; the reclaimer takes the oldest. */
export const reclaimJobs = {
  table: jobs,
  async enqueue(tx: Transaction, job: ReclaimJob, at: Ticks): Promise<void> {
    const key = jobs.key({ at, kind: job.kind, scope: job.scope.join("/") });
    tx.put(key, jobs.codec.encode(job));
  },
};
