import type { ContentRef } from "../content/content-ref.ts";
import type { ReclaimHandler, Reclamation, Removal } from "./service.ts";
import { ticksPerSecond } from "../base/ticks.ts";
import type { Log } from "../base/world.ts";
import type { ContentStore } from "../content/content.ts";
import { StoreUnavailable, type Store, type Transaction } from "../store/store.ts";
import { updateIndexes } from "./apply.ts";
import { settleUsage, type Quotas, type UsageChange } from "./quotas.ts";
import { enqueueJob, firstDueJob, type DueJob } from "./reclaim-jobs.ts";
import { Records } from "./records.ts";

/** Runs reclaim jobs in the background, for `data/data-stores.ts`: one bounded step per
 *  transaction, so that a deletion of a million records delays no request. */

/** Dependencies of reclaim jobs. `reclaimers` are the handlers by kind of job. */
interface ReclaimParts {
  readonly store: Store;
  readonly content: ContentStore;
  readonly reclaimers: ReadonlyMap<string, ReclaimHandler>;
  /** Undefined if no account has a quota. */
  readonly quotas?: Quotas | undefined;
}

/** Pause before a failed job is retried, so that a lasting fault neither fills the log nor takes
 *  the time of other jobs. */
const postponementTicks = 300n * ticksPerSecond;

/** Most steps per round, so that other background work runs in between. */
const stepsPerRoundMax = 16;

/** Runs one step of the first due job. Returns false if no job is due. For tests, which need the
 *  error of a failed job. */
export function reclaimStep(parts: ReclaimParts): Promise<boolean> {
  return step(parts, {});
}

/** Like `reclaimStep`, but postpones a job that fails, so that it does not block the jobs after it.
 *  No job is postponed if the store is unavailable, because then every job fails. */
export async function reclaimOrPostpone(parts: ReclaimParts, log: Log): Promise<boolean> {
  const attempt: StepAttempt = {};
  try {
    return await step(parts, attempt);
  } catch (error) {
    if (attempt.due === undefined || error instanceof StoreUnavailable) throw error;
    const { kind, scope } = attempt.due.job;
    log.error(
      { err: error, kind, scope: scope.join("/") },
      "reclaim job failed; retrying in 5 min",
    );
    await postpone(parts.store, attempt.due);
    return true;
  }
}

/** Runs up to 16 steps, because one step per round of background work was slower than clients
 *  delete. Returns whether more jobs may be due. */
export async function runReclaimSteps(parts: ReclaimParts, log: Log): Promise<boolean> {
  for (let steps = 0; steps < stepsPerRoundMax; steps += 1) {
    if (!(await reclaimOrPostpone(parts, log))) return steps > 0;
  }
  return true;
}

/** The job that the last attempt of the transaction tried to run, so that it can be postponed if
 *  the attempt fails. */
interface StepAttempt {
  due?: DueJob | undefined;
}

function step(parts: ReclaimParts, attempt: StepAttempt): Promise<boolean> {
  const work = async (tx: Transaction): Promise<boolean> => {
    attempt.due = undefined;
    const due = await firstDueJob(tx);
    attempt.due = due;
    if (due !== undefined) await workOn(tx, due, parts);
    return due !== undefined;
  };
  return parts.store.transact(work, { mayUseReserve: true });
}

/** Postpones a job, unless another process has finished or postponed it since it was read. */
function postpone(store: Store, { key, job }: DueJob): Promise<void> {
  return store.transact(async (tx) => {
    if ((await tx.get(key)) === undefined) return;
    tx.delete(key);
    enqueueJob(tx, { ...job, due: tx.now + postponementTicks }, tx.now);
  });
}

/** Runs one step of a job. The last step deletes the job. */
async function workOn(
  tx: Transaction,
  { key, job }: DueJob,
  { content, reclaimers, quotas }: ReclaimParts,
): Promise<void> {
  const reclaimer = reclaimers.get(job.kind);
  if (reclaimer === undefined) throw new Error(`no reclaim handler for job kind "${job.kind}"`);
  const reclamation = await reclaimer(new Records(tx, content), job.scope);
  const usage = quotas?.usageOf(job.account);
  await apply(content, tx, reclamation, usage);
  if (usage !== undefined) {
    await settleUsage(quotas, tx, usage, { request: job, isExempt: true });
  }
  if (reclamation.done) tx.delete(key);
}

/** Writes what one step of a job requests: removals, counters, further jobs, entries of logs. */
async function apply(
  content: ContentStore,
  tx: Transaction,
  { removals = [], counts = [], jobs = [], appends = [] }: Reclamation,
  usage: UsageChange | undefined,
): Promise<void> {
  for (const removal of removals) await removeRecord(content, tx, removal, usage);
  for (const { counter, delta } of counts) tx.add(counter, delta);
  for (const { log, value } of appends) tx.append(log, value);
  // Jobs that this one leaves behind remove bytes of the same account.
  for (const job of jobs) enqueueJob(tx, usage ? { ...job, account: usage.account } : job, tx.now);
}

async function removeRecord(
  content: ContentStore,
  tx: Transaction,
  { table, key }: Removal,
  usage: UsageChange | undefined,
): Promise<void> {
  const isCounted = usage !== undefined && table?.countedBytes !== undefined;
  if (table?.content !== undefined || table?.indexes !== undefined || isCounted) {
    const value = await tx.get(key);
    const before = value && table.codec.decode(value);
    const held = (before as Record<string, ContentRef> | undefined)?.[table.content ?? ""];
    if (held !== undefined) await content.applyPlan(tx, key, held, undefined);
    updateIndexes(tx, table, { key, before, after: undefined });
    usage?.count(table, before, undefined);
  }
  tx.delete(key);
}
