import type { ContentRef } from "../content/content-ref.ts";
import type { ReclaimHandler, Reclamation, Removal } from "./service.ts";
import { ticksPerSecond } from "../base/ticks.ts";
import type { Log } from "../base/world.ts";
import type { ContentStore } from "../content/content.ts";
import { StoreUnavailable, type Store, type Transaction } from "../store/store.ts";
import { updateIndexes } from "./indexes.ts";
import { enqueueJob, firstDueJob, type DueJob } from "./reclaim-jobs.ts";
import { Records } from "./records.ts";

export interface ReclaimParts {
  readonly store: Store;
  readonly content: ContentStore;
  readonly reclaimers: ReadonlyMap<string, ReclaimHandler>;
}

/** A job that failed is tried again after this long. */
const postponement = 300n * ticksPerSecond;

const stepsPerRoundMax = 16;

/** One bounded step of one job. Returns whether there was anything to do. */
export function reclaimStep(parts: ReclaimParts): Promise<boolean> {
  return step(parts, {});
}

/** The same, but a job that fails is put off: it must not stand in the way of those behind it. A
 *  failing disk would fail all of them, so then nothing is put off. */
export async function reclaimOrPostpone(parts: ReclaimParts, log: Log): Promise<boolean> {
  const tried: Tried = {};
  try {
    return await step(parts, tried);
  } catch (error) {
    if (tried.due === undefined || error instanceof StoreUnavailable) throw error;
    const { kind, scope } = tried.due.job;
    log.error({ err: error, kind, scope: scope.join("/") }, "a job failed and is put off");
    await postpone(parts.store, tried.due);
    return true;
  }
}

/** Several steps: one at a time, with other chores between them, fell behind those who delete much.
 *  Returns whether there may be more to do. */
export async function runReclaimSteps(parts: ReclaimParts, log: Log): Promise<boolean> {
  for (let steps = 0; steps < stepsPerRoundMax; steps += 1) {
    if (!(await reclaimOrPostpone(parts, log))) return steps > 0;
  }
  return true;
}

/** What an attempt was about, for whoever has to deal with its failure. */
interface Tried {
  due?: DueJob | undefined;
}

function step(parts: ReclaimParts, tried: Tried): Promise<boolean> {
  const work = async (tx: Transaction): Promise<boolean> => {
    tried.due = undefined;
    const due = await firstDueJob(tx);
    tried.due = due;
    if (due !== undefined) await workOn(tx, due, parts);
    return due !== undefined;
  };
  return parts.store.transact(work, { mayUseReserve: true });
}

/** Unless another process has finished the job, or put it off, meanwhile. */
function postpone(store: Store, { key, job }: DueJob): Promise<void> {
  return store.transact(async (tx) => {
    if ((await tx.get(key)) === undefined) return;
    tx.delete(key);
    enqueueJob(tx, { ...job, due: tx.now + postponement }, tx.now);
  });
}

async function workOn(
  tx: Transaction,
  { key, job }: DueJob,
  { content, reclaimers }: ReclaimParts,
): Promise<void> {
  const reclaimer = reclaimers.get(job.kind);
  if (reclaimer === undefined) throw new Error(`nobody reclaims ${job.kind}`);
  const reclamation = await reclaimer(new Records(tx, content), job.scope);
  await apply(content, tx, reclamation);
  if (reclamation.done) tx.delete(key);
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
    updateIndexes(tx, table, { key, before, after: undefined });
  }
  tx.delete(key);
}
