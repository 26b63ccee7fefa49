import type { AccountChangeParts } from "../../account/account-changes.ts";
import {
  findLoadProblem,
  findNamespaceProblem,
  publishLoad,
  type AccountLoad,
  type AccountLoadResult,
  type LoadRules,
} from "../../account/load-account.ts";
import { ticksPerDay } from "../../base/ticks.ts";
import type { ReclaimJob } from "../../operation/effects.ts";
import { enqueueJob, reclaimJobs } from "../../operation/reclaim-jobs.ts";
import type { Transaction } from "../../store/store.ts";
import { ArchiveRefused } from "./archive-refused.ts";

/** After this time a reclaim job deletes the data of a load that was killed. */
const loadTicksMax = ticksPerDay;

/**
 * Accounts of a load before it is published. Their data is stored under ids that no name refers
 * to; `publish` assigns all of them in one transaction. Until then the load is invisible, and
 * reclaim jobs delete its data unless `publish` removes the jobs.
 */
export class StagedAccounts {
  readonly #parts: AccountChangeParts;
  readonly #rules: LoadRules;
  readonly #accounts: AccountLoad[] = [];
  readonly #jobKeys: Uint8Array[] = [];

  constructor(parts: AccountChangeParts, rules: LoadRules) {
    this.#parts = parts;
    this.#rules = rules;
  }

  get count(): number {
    return this.#accounts.length;
  }

  /** Throws if data cannot be loaded under these names. Nothing is written. */
  async check(names: readonly string[]): Promise<void> {
    await this.#parts.store.transact(async (tx) => this.#refuse(tx, names));
  }

  /** Adds an account. Must complete before any of its data is stored. */
  async stage(account: AccountLoad): Promise<void> {
    const keys = await this.#parts.store.transact(async (tx) => {
      const problem = await findNamespaceProblem(tx, account);
      if (problem !== undefined) throw new ArchiveRefused([problem]);
      const due = tx.now + loadTicksMax;
      const jobs = this.#jobsOf(account).map((job) => ({ ...job, due }));
      for (const job of jobs) enqueueJob(tx, job, tx.now);
      return jobs.map(({ kind, scope }) => reclaimJobs.key({ due, kind, scope: scope.join("/") }));
    });
    this.#accounts.push(account);
    this.#jobKeys.push(...keys);
  }

  /** Makes the data of all accounts visible in one transaction, or none. */
  publish(): Promise<readonly AccountLoadResult[]> {
    return this.#parts.store.transact(async (tx) => {
      await this.#refuse(
        tx,
        this.#accounts.map(({ name }) => name),
      );
      for (const key of this.#jobKeys) {
        if ((await tx.get(key)) === undefined) {
          throw new ArchiveRefused(["the load took longer than 1 day, or a snapshot was restored"]);
        }
        tx.delete(key);
      }
      const results: AccountLoadResult[] = [];
      for (const account of this.#accounts) {
        const problem = await findNamespaceProblem(tx, account);
        if (problem !== undefined) throw new ArchiveRefused([problem]);
        const result = await publishLoad(this.#parts, tx, account, this.#rules);
        if ("problem" in result) throw new ArchiveRefused([result.problem]);
        results.push(result);
      }
      return results;
    });
  }

  /** After a failure: makes the reclaim jobs due, so that the data is deleted soon. */
  async abandon(): Promise<void> {
    if (this.#jobKeys.length === 0) return;
    await this.#parts.store.transact((tx) => {
      for (const key of this.#jobKeys) tx.delete(key);
      for (const job of this.#accounts.flatMap((each) => this.#jobsOf(each))) {
        enqueueJob(tx, job, tx.now);
      }
      return Promise.resolve();
    });
  }

  #jobsOf({ id }: AccountLoad): readonly ReclaimJob[] {
    return this.#parts.services.map((service) => ({ kind: `${service}-account`, scope: [id] }));
  }

  async #refuse(tx: Transaction, names: readonly string[]): Promise<void> {
    const problems: string[] = [];
    for (const name of names) {
      const problem = await findLoadProblem(this.#parts, tx, name, this.#rules);
      if (problem !== undefined) problems.push(problem);
    }
    if (problems.length > 0) throw new ArchiveRefused(problems);
  }
}
