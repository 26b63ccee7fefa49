import type { Effect } from "../../operation/effects.ts";
import type { Ticks } from "../../base/ticks.ts";
import { applyEffects } from "../../operation/apply.ts";
import type { Runtime } from "../../operation/execute.ts";
import { settleUsage } from "../../operation/quotas.ts";
import { Records } from "../../operation/records.ts";
import type { TransactOptions, Transaction } from "../../store/store.ts";

/** A transaction of a background task: change notification, or closing the handles of processes
 *  that have ended. File operations of clients are declarations instead
 *  (`execute-operation.ts`). */
export class BackgroundTransaction {
  readonly view: Records;
  readonly #runtime: Runtime;
  readonly #tx: Transaction;

  constructor(runtime: Runtime, tx: Transaction) {
    this.#runtime = runtime;
    this.#tx = tx;
    this.view = new Records(tx, runtime.content);
  }

  get now(): Ticks {
    return this.#tx.now;
  }

  /** `account`: id of the account whose bytes the effects may free; undefined if they free none. */
  async apply(effects: readonly Effect[], account?: bigint): Promise<void> {
    const { content, origin, quotas } = this.#runtime;
    const usage = quotas?.usageOf(account);
    await applyEffects(content, this.#tx, effects, this.#tx.now, { origin, usage });
    if (usage === undefined) return;
    await settleUsage(quotas, this.#tx, usage, { request: this, isExempt: true });
  }
}

/** Runs the work of a background task in a transaction. It may run again after a conflict. */
export function writeTransaction<T>(
  runtime: Runtime,
  work: (work: BackgroundTransaction) => Promise<T>,
  options?: Pick<TransactOptions, "mayUseReserve">,
): Promise<T> {
  return runtime.store.transact((tx) => work(new BackgroundTransaction(runtime, tx)), options);
}

/** Runs read-only work on one state of the store. */
export function readSnapshot<T>(runtime: Runtime, work: (view: Records) => Promise<T>): Promise<T> {
  return runtime.store.snapshot((view) => work(new Records(view, runtime.content)));
}
