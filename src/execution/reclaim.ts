import type { ContentRef } from "../core/content-ref.ts";
import type { Reclaimer, Reclamation, Removal } from "../core/service.ts";
import type { ContentStore } from "../content/content.ts";
import type { Store, Transaction } from "../store/store.ts";
import { moveIndexes } from "./indexes.ts";
import { enqueueJob, firstDueJob } from "./reclaim-jobs.ts";
import { Records } from "./records.ts";

export interface ReclaimParts {
  readonly store: Store;
  readonly content: ContentStore;
  readonly reclaimers: ReadonlyMap<string, Reclaimer>;
}

/** One bounded step of one job. Returns whether there was anything to do. */
export function reclaimStep({ store, content, reclaimers }: ReclaimParts): Promise<boolean> {
  return store.transact(async (tx) => {
    const due = await firstDueJob(tx);
    if (due === undefined) return false;
    const reclaimer = reclaimers.get(due.job.kind);
    if (reclaimer === undefined) throw new Error(`nobody reclaims ${due.job.kind}`);
    const reclamation = await reclaimer(new Records(tx, content), due.job.scope);
    await apply(content, tx, reclamation);
    if (reclamation.done) tx.delete(due.key);
    return true;
  });
}

async function apply(
  content: ContentStore,
  tx: Transaction,
  { removals = [], counts = [], jobs = [] }: Reclamation,
): Promise<void> {
  for (const removal of removals) await removeRecord(content, tx, removal);
  for (const { counter, delta } of counts) tx.add(counter, delta);
  for (const job of jobs) enqueueJob(tx, job, tx.now);
}

async function removeRecord(
  content: ContentStore,
  tx: Transaction,
  { table, key }: Removal,
): Promise<void> {
  if (table?.content !== undefined || table?.indexes !== undefined) {
    const value = await tx.get(key);
    const before = value && table.codec.decode(value);
    const held = (before as Record<string, ContentRef> | undefined)?.[table.content ?? ""];
    if (held !== undefined) await content.settle(tx, key, held, undefined);
    moveIndexes(tx, table, { key, before, after: undefined });
  }
  tx.delete(key);
}
