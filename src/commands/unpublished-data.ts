import { ticksPerDay } from "../base/ticks.ts";
import type { ReclaimJob } from "../operation/effects.ts";
import { enqueueJob, reclaimJobs } from "../operation/reclaim-jobs.ts";
import type { Store, Transaction } from "../store/store.ts";

/** What `etagere load` and `etagere import` store before it becomes visible, and how it is
 *  deleted. */

/** After this time a reclaim job, a stored job that deletes data in the background, removes what a
 *  load or import that was killed has stored. */
const unpublishedTicksMax = ticksPerDay;
/** Most jobs that one transaction stores: an import has one for each container, queue and table. */
const jobsPerTransactionMax = 500;

interface StoredJob {
  readonly job: ReclaimJob;
  readonly key: Uint8Array;
}

/** The data that `etagere load` or `etagere import` has stored before its last transaction, under
 *  ids that no name refers to. That transaction publishes it: it gives all ids their names. Until
 *  then a reclaim job per id makes sure that the data is deleted if the command fails or is
 *  killed. */
export class UnpublishedData {
  readonly #store: Store;
  readonly #stored: StoredJob[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** Stores jobs that are due in a day, each time after `check`, which throws if the data cannot be
   *  loaded. Must complete before any of the data is stored. */
  async add(
    jobs: readonly ReclaimJob[],
    check: (tx: Transaction) => Promise<void> = async () => {},
  ): Promise<void> {
    for (let from = 0; from < jobs.length; from += jobsPerTransactionMax) {
      const some = jobs.slice(from, from + jobsPerTransactionMax);
      const keys = await this.#store.transact(async (tx) => {
        await check(tx);
        const due = tx.now + unpublishedTicksMax;
        for (const job of some) enqueueJob(tx, { ...job, due }, tx.now);
        return some.map(({ kind, scope }) =>
          reclaimJobs.key({ due, kind, scope: scope.join("/") }),
        );
      });
      this.#stored.push(...keys.map((key, index) => ({ key, job: some[index]! })));
    }
  }

  /** Removes the jobs in the transaction that publishes the data. Returns false if one is gone:
   *  then it has begun to delete the data. */
  async keep(tx: Transaction): Promise<boolean> {
    for (const { key } of this.#stored) {
      if ((await tx.get(key)) === undefined) return false;
      tx.delete(key);
    }
    return true;
  }

  /** After a failure: makes the jobs due, so that a running server deletes the data soon. If a job
   *  is gone, the data was published, and only the response of the store was lost. */
  async abandon(): Promise<void> {
    for (let from = 0; from < this.#stored.length; from += jobsPerTransactionMax) {
      const some = this.#stored.slice(from, from + jobsPerTransactionMax);
      await this.#store.transact(async (tx) => {
        for (const { key, job } of some) {
          if ((await tx.get(key)) === undefined) continue;
          tx.delete(key);
          enqueueJob(tx, job, tx.now);
        }
      });
    }
  }
}
