import { put, remove, type Effect } from "./effects.ts";
import { ticksPerSecond } from "../base/ticks.ts";
import type { TransferEnd, TransferHandler, TransferJob } from "./transfer-handler.ts";
import type { ContentStore } from "../content/content.ts";
import type { Store } from "../store/store.ts";
import { applyEffects } from "./apply.ts";
import { Records } from "./records.ts";
import { transferJobs, type StoredTransfer } from "./transfer-jobs.ts";

export interface TransferStore {
  readonly store: Store;
  readonly content: ContentStore;
  readonly handlers: ReadonlyMap<string, TransferHandler>;
}

/** Duration of a claim. The process renews it in time; after its death another one claims the
 *  job. */
const claimTicks = 15n * ticksPerSecond;
const scanMax = 100;

export function startTransfer(job: TransferJob): Effect {
  return put(transferJobs, { id: job.id }, { ...job, attempts: 0 });
}

export function dropTransfer(id: string): Effect {
  return remove(transferJobs, { id });
}

/** Claims a job that no process works on; undefined if there is none. `busy`: jobs of this
 *  process. */
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

/** Stores the number of copied bytes in the target. False if it no longer waits for them. */
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
      // Without this the next claim would fetch the bytes again.
      await applyEffects(content, tx, [dropTransfer(job.id)], tx.now);
      return false;
    }
    const claimed = { ...job, claimedUntil: tx.now + claimTicks };
    await applyEffects(content, tx, [...effects, put(transferJobs, job, claimed)], tx.now);
    return true;
  });
}

/** Stores the content or the fault in the target and removes the job. */
export function endTransfer(
  { store, content, handlers }: TransferStore,
  job: StoredTransfer,
  end: TransferEnd,
): Promise<boolean> {
  return store.transact(async (tx) => {
    const records = new Records(tx, content);
    if ((await records.get(transferJobs, job)) === undefined) return false;
    const effects = await handlerOf(handlers, job).finish(records, job, end);
    await applyEffects(content, tx, [...(effects ?? []), dropTransfer(job.id)], tx.now);
    return effects !== undefined;
  });
}

/** Renews the claim of this process. */
export function renewClaim({ store }: TransferStore, id: string): Promise<void> {
  return store.transact(async (tx) => {
    const key = transferJobs.key({ id });
    const value = await tx.get(key);
    if (value === undefined) return;
    const job = transferJobs.codec.decode(value);
    tx.put(key, transferJobs.codec.encode({ ...job, claimedUntil: tx.now + claimTicks }));
  });
}

/** Ends the claim, so that the job is claimed again. */
export function releaseTransfer({ store }: TransferStore, job: StoredTransfer): Promise<void> {
  return store.transact(async (tx) => {
    const key = transferJobs.key(job);
    if ((await tx.get(key)) === undefined) return;
    tx.put(key, transferJobs.codec.encode({ ...job, claimedUntil: undefined }));
  });
}

function handlerOf(
  handlers: ReadonlyMap<string, TransferHandler>,
  { kind }: TransferJob,
): TransferHandler {
  const handler = handlers.get(kind);
  if (handler === undefined) throw new Error(`no transfer handler for job kind "${kind}"`);
  return handler;
}
