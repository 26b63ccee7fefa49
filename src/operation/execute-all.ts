import type { Transaction } from "../store/store.ts";
import { prefetchOptions, type Call, type Outcome, type Runtime } from "./execute.ts";
import { mayUseReserve } from "./operation.ts";
import { settleUsage } from "./quotas.ts";
import { Records } from "./records.ts";
import { run, type PreviousOperation } from "./run.ts";
import { TransactionRejected } from "./transaction-rejected.ts";
import { isWaitOutcome } from "./wait.ts";

/** Runs several operations in one transaction: all of them take effect, or none does. Returns their
 *  outcomes, or the rejection of the first operation that fails. */
export async function executeAll(
  runtime: Runtime,
  calls: readonly Call[],
): Promise<readonly Outcome[] | TransactionRejected> {
  const isExempt = calls.every(({ operation }) => mayUseReserve(operation));
  const work = async (tx: Transaction): Promise<readonly Outcome[]> => {
    const outcomes: Outcome[] = [];
    const records = new Records(tx, runtime.content, { decoded: new Map() });
    const previous: PreviousOperation = { call: undefined, loaded: undefined };
    for (const call of calls) {
      const running = run(runtime, call, tx, tx, records, previous);
      const outcome = running instanceof Promise ? await running : running;
      if (isWaitOutcome(outcome))
        throw new Error(
          `${call.operation.name} must not wait inside a transaction of several operations`,
        );
      if (outcome.kind !== "reply") throw new TransactionRejected(outcomes.length, outcome);
      outcomes.push(outcome);
    }
    const { usage } = previous;
    if (usage !== undefined) {
      await settleUsage(runtime.quotas, tx, usage, { request: calls, isExempt });
    }
    return outcomes;
  };
  try {
    return await runtime.store.transact(work, {
      ...prefetchOptions(runtime.content, calls),
      mayUseReserve: isExempt,
    });
  } catch (error) {
    if (error instanceof TransactionRejected) return error;
    throw error;
  } finally {
    runtime.quotas?.release(calls);
  }
}
