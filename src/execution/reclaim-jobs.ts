import type { ReclaimJob } from "../core/effects.ts";
import { recordCodec } from "../core/record.ts";
import { defineTable } from "../core/table.ts";
import type { Ticks } from "../core/ticks.ts";
import type { Transaction, View } from "../store/store.ts";

/** Jobs lie in the order they fall due. */
export const reclaimJobs = defineTable<{ due: Ticks; kind: string; scope: string }, ReclaimJob>({
  name: "reclaim-jobs",
  tag: 0x02,
  key: ({ due, kind, scope }) => [due, kind, scope],
  codec: recordCodec<ReclaimJob>({ version: 1 }),
});

export function enqueueJob(tx: Transaction, job: ReclaimJob, now: Ticks): void {
  const key = { due: job.due ?? now, kind: job.kind, scope: job.scope.join("/") };
  tx.put(reclaimJobs.key(key), reclaimJobs.codec.encode(job));
}

export interface DueJob {
  readonly key: Uint8Array;
  readonly job: ReclaimJob;
}

/** The first job whose moment has come. */
export async function firstDueJob(view: View): Promise<DueJob | undefined> {
  const bounds = {
    start: reclaimJobs.prefix([]),
    end: reclaimJobs.prefix([view.now + 1n]),
    limit: 1,
  };
  for await (const [entry] of view.range(bounds)) {
    if (entry !== undefined) return { key: entry.key, job: reclaimJobs.codec.decode(entry.value) };
  }
  return undefined;
}
