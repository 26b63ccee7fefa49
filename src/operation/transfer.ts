import { defineTable, recordCodec } from "../encoding/table.ts";
import { ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { TransferJob, TransferEnd, TransferHandler } from "./transfer-handler.ts";
import { put, remove, type Effect } from "./effects.ts";
import type { ContentStore } from "../content/content.ts";
import type { Store } from "../store/store.ts";
import { applyEffects } from "./apply.ts";
import { QuotaExceeded, settleUsage, type Quotas } from "./quotas.ts";
import { Records } from "./records.ts";

/** The table of transfer jobs (asynchronous copies), and the transactions that claim a job, report
 *  its progress and end it. `http/source/transfers.ts` runs the jobs. A job is claimed by one
 *  process at a time, and by another one if that process ends. */

/** A stored transfer job. It stays, also over restarts, until the target has the bytes or the
 *  failure. */
export interface StoredTransfer extends TransferJob {
  readonly attempts: number;
  /** While this time is in the future, the process that claimed the job works on it. Undefined: not
   *  claimed. */
  readonly claimedUntil?: Ticks | undefined;
}

export const transferJobs = defineTable<{ id: string }, StoredTransfer>({
  name: "transfer-jobs",
  tag: 0x03,
  key: ({ id }) => [id],
  codec: recordCodec<StoredTransfer>({ version: 1 }),
  owner: "store",
  lifetime: "durable",
  role: "record",
  // A copy in progress counts as aborted in an archive.
  isArchived: false,
});

/** Dependencies of transfers. `handlers` are the handlers by kind of job. */
export interface TransferStore {
  readonly store: Store;
  readonly content: ContentStore;
  readonly handlers: ReadonlyMap<string, TransferHandler>;
  /** Undefined if no account has a quota. */
  readonly quotas?: Quotas | undefined;
}

/** Duration of a claim. The process that works on a job renews its claim in time; if that process
 *  ends, another one claims the job afterwards. */
const claimTicks = 15n * ticksPerSecond;
/** Most jobs that a search for an unclaimed job reads, beside those of this process. Jobs further
 *  back are found when those before them have ended. */
const scanMax = 100;

/** Returns the effect that stores a transfer job, for the decision that accepts the copy. */
export function startTransfer(job: TransferJob): Effect {
  return put(transferJobs, { id: job.id }, { ...job, attempts: 0 });
}

/** Returns the effect that removes a transfer job, as when its copy is aborted. */
export function dropTransfer(id: string): Effect {
  return remove(transferJobs, { id });
}

/** Claims a job that no process works on; undefined if there is none. `busy`: ids of the jobs that
 *  this process works on. */
export function claimTransfer(
  { store }: TransferStore,
  busy: ReadonlySet<string>,
): Promise<StoredTransfer | undefined> {
  return store.transact(async (tx) => {
    const bounds = { ...transferJobs.range([]), limit: scanMax + busy.size };
    for await (const batch of tx.range(bounds)) {
      for (const { key, value } of batch) {
        const job = transferJobs.codec.decode(value);
        const free = job.claimedUntil === undefined || job.claimedUntil <= tx.now;
        if (busy.has(job.id) || !free) continue;
        const claimed = { ...job, attempts: job.attempts + 1, claimedUntil: tx.now + claimTicks };
        tx.put(key, transferJobs.codec.encode(claimed));
        return claimed;
      }
    }
    return undefined;
  });
}

/** Stores the number of copied bytes in the target and renews the claim. Returns false if the
 *  target no longer waits for these bytes. */
export function reportProgress(
  { store, content, handlers }: TransferStore,
  job: StoredTransfer,
  copiedBytes: number,
): Promise<boolean> {
  return store.transact(async (tx) => {
    const records = new Records(tx, content);
    if ((await records.get(transferJobs, job)) === undefined) return false;
    const effects = await handlerOf(handlers, job).progress(records, job, copiedBytes);
    if (effects === undefined) {
      // Otherwise the next claim would fetch the bytes again.
      await applyEffects(content, tx, [dropTransfer(job.id)], tx.now);
      return false;
    }
    const claimed = { ...job, claimedUntil: tx.now + claimTicks };
    await applyEffects(content, tx, [...effects, put(transferJobs, job, claimed)], tx.now);
    return true;
  });
}

/** Stores the content or the failure in the target and removes the job. Returns false if the target
 *  no longer waits for these bytes. The copy fails if its bytes exceed the quota of the account. */
export async function endTransfer(
  parts: TransferStore,
  job: StoredTransfer,
  end: TransferEnd,
): Promise<boolean> {
  try {
    return await storeEnd(parts, job, end);
  } catch (error) {
    if (!(error instanceof QuotaExceeded)) throw error;
    return storeEnd(parts, job, { ended: "failed", description: quotaExceeded });
  } finally {
    parts.quotas?.release(job);
  }
}

const quotaExceeded = '503 ServerBusy "Ingress is over the account limit."';

function storeEnd(
  { store, content, handlers, quotas }: TransferStore,
  job: StoredTransfer,
  end: TransferEnd,
): Promise<boolean> {
  return store.transact(async (tx) => {
    const records = new Records(tx, content);
    if ((await records.get(transferJobs, job)) === undefined) return false;
    const effects = await handlerOf(handlers, job).finish(records, job, end);
    const usage = quotas?.usageOf(job.account);
    const all = [...(effects ?? []), dropTransfer(job.id)];
    await applyEffects(content, tx, all, tx.now, { usage });
    if (usage !== undefined) {
      await settleUsage(quotas, tx, usage, { request: job, isExempt: end.ended === "failed" });
    }
    return effects !== undefined;
  });
}

/** Renews the claim of this process on a job. */
export function renewClaim({ store }: TransferStore, id: string): Promise<void> {
  return changeJob(store, id, (job, now) => ({ ...job, claimedUntil: now + claimTicks }));
}

/** Ends the claim of this process, so that a process can claim the job again. `job` is stored with
 *  the number of its attempts. */
export function releaseTransfer({ store }: TransferStore, job: StoredTransfer): Promise<void> {
  return changeJob(store, job.id, () => ({ ...job, claimedUntil: undefined }));
}

/** Does nothing if the job has ended meanwhile, for example because its copy was aborted. */
function changeJob(
  store: Store,
  id: string,
  change: (stored: StoredTransfer, now: Ticks) => StoredTransfer,
): Promise<void> {
  const key = transferJobs.key({ id });
  return store.transact(async (tx) => {
    const value = await tx.get(key);
    if (value === undefined) return;
    const changed = change(transferJobs.codec.decode(value), tx.now);
    tx.put(key, transferJobs.codec.encode(changed));
  });
}

/** The handler of a job, by its kind; every service declares its own. */
export function handlerOf(
  handlers: ReadonlyMap<string, TransferHandler>,
  { kind }: TransferJob,
): TransferHandler {
  const handler = handlers.get(kind);
  if (handler === undefined) throw new Error(`no transfer handler for job kind "${kind}"`);
  return handler;
}
