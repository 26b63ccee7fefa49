import type { Awaitable } from "../base/awaitable.ts";
import type { Ticks } from "../base/ticks.ts";
import { Attempt } from "./attempt.ts";
import { runAttempt, type Committer, type WorkResult } from "./committer.ts";
import type { StateReader, StateView } from "./engine.ts";
import { snapshotView } from "./layered-scan.ts";
import {
  StoreClosed,
  type SnapshotOptions,
  type Transaction,
  type TransactOptions,
  type View,
} from "./store.ts";

const attemptsMaxDefault = 64;

/** What a store throws after it was closed. */
export const closedMessage = "the store was closed";

export const emptyState: StateReader = {
  sequence: 0,
  ticks: 0n,
  clockOffset: 0n,
  priorityOwner: 0,
  get: () => undefined,
  scan: () => [],
};

/** A state of which only the predicted reads can be answered. */
interface PrefetchedReader extends StateReader {
  /** Whether the work read something else; its result must not be used. */
  readonly isIncomplete: boolean;
}

interface TransactionsOptions {
  readonly committer: Committer;
  readonly nextTicks: (reader: StateReader) => Ticks;
  /** Throws if the store was closed, or may not be used for another reason. */
  readonly checkOpen: () => void;
  /** Opens the latest state for an attempt or a snapshot; the caller closes it. */
  readonly open: () => Awaitable<StateView>;
  /** The same without an age limit. */
  readonly openUnlimited: () => Awaitable<StateView>;
  /** Reads what work will probably read, in one request; resolves to undefined if that cannot be
   *  predicted. Undefined: reads of this store are fast by themselves. */
  readonly openPrefetched?: (
    prefetch: NonNullable<SnapshotOptions["prefetch"]>,
  ) => Promise<PrefetchedReader | undefined>;
  /** The number of commits so far, for stores that validate by it. */
  readonly writes?: () => number;
}

type Work = (tx: Transaction) => Awaitable<unknown>;

/** An execution of the work of a transaction, before it is queued. */
interface Run {
  readonly attempt: Attempt;
  readonly result: WorkResult;
}

/** Optimistic transactions and snapshots of a store. The stores differ in how they open a state and
 *  in what commits a batch. */
export class Transactions {
  readonly #options: TransactionsOptions;
  /** Stands for the attempt of a transaction whose work runs only inside the batch. */
  readonly #notRun: Run = { attempt: new Attempt(emptyState, 0n), result: { value: undefined } };
  /** Whether the committer has stopped. */
  #isEnded = false;

  constructor(options: TransactionsOptions) {
    this.#options = options;
  }

  async transact<T>(
    work: (tx: Transaction) => Awaitable<T>,
    { runInBatch = false, prefetch, attemptsMax, mayUseReserve }: TransactOptions = {},
  ): Promise<T> {
    const { committer, open, openPrefetched, nextTicks, writes, checkOpen } = this.#options;
    checkOpen();
    const writesBefore = writes?.() ?? 0;
    let { attempt, result } = this.#notRun;
    if (!runInBatch) {
      const prefetched =
        openPrefetched === undefined || prefetch === undefined
          ? undefined
          : await this.#runPrefetched(work, await openPrefetched(prefetch));
      if (prefetched === undefined) {
        const view = await open();
        attempt = new Attempt(view, nextTicks(view));
        const run = runAttempt(work, attempt);
        result = run instanceof Promise ? await run : run;
        view.close();
      } else {
        ({ attempt, result } = prefetched);
      }
      if ("error" in result || attempt.changes.isEmpty) return valueOf(result) as T;
      // The store was closed while the work ran.
      if (this.#isEnded) throw new StoreClosed(closedMessage);
    }
    const committed = await new Promise<WorkResult>((settle) => {
      committer.submit({
        work,
        settle,
        attempt,
        result,
        attemptsMax: attemptsMax ?? attemptsMaxDefault,
        prefetch,
        mayUseReserve,
        attemptsUsed: runInBatch ? 0 : 1,
        externalConflicts: 0,
        isStale: runInBatch,
        writesBefore,
      });
    });
    return valueOf(committed) as T;
  }

  async snapshot<T>(
    work: (view: View) => Awaitable<T>,
    { prefetch, isUnlimited = false }: SnapshotOptions = {},
  ): Promise<T> {
    const { open, openUnlimited, openPrefetched, nextTicks, checkOpen } = this.#options;
    checkOpen();
    if (openPrefetched !== undefined && prefetch !== undefined) {
      const state = await openPrefetched(prefetch);
      const result = state && (await captured(() => work(snapshotView(state, nextTicks(state)))));
      if (result !== undefined && state?.isIncomplete === false) return valueOf(result) as T;
    }
    const view = await (isUnlimited ? openUnlimited() : open());
    try {
      const done = work(snapshotView(view, nextTicks(view)));
      return done instanceof Promise ? await done : done;
    } finally {
      view.close();
    }
  }

  /** Waits for the queued transactions; later ones fail. */
  async end(): Promise<void> {
    await this.#options.committer.idle();
    this.#isEnded = true;
  }

  async #runPrefetched(work: Work, state: PrefetchedReader | undefined): Promise<Run | undefined> {
    if (state === undefined) return undefined;
    const attempt = new Attempt(state, this.#options.nextTicks(state));
    const result = await runAttempt(work, attempt);
    return state.isIncomplete ? undefined : { attempt, result };
  }
}

function valueOf(result: WorkResult): unknown {
  if ("error" in result) throw result.error;
  return result.value;
}

async function captured(run: () => Awaitable<unknown>): Promise<WorkResult> {
  try {
    return { value: await run() };
  } catch (error) {
    return { error };
  }
}
