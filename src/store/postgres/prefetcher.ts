import type { Awaitable } from "../../base/awaitable.ts";
import type { View } from "../store.ts";
import { lookupsMax } from "./connections.ts";
import { prefetchQuery, type PrefetchRow } from "./prefetch-query.ts";
import { prefetchResultOf, PrefetchedState, type PrefetchResult } from "./prefetched-state.ts";
import type { ReadCache, ReadPlan } from "./read-plans.ts";
import { planReads, mergeSequential, mergeConcurrent } from "./read-plans.ts";
import { headerOf } from "./shared-snapshot.ts";
import { asUnavailable, isTransient } from "./unavailable.ts";
import type { ReadersOptions } from "./state-pool.ts";

/** Prefetching: the reads of an operation are predicted and fetched in one statement, because each
 *  round trip to a database takes longer than the operation. `Transactions` uses it for snapshots
 *  and first attempts, `database-commits.ts` for retries. */

type PrefetchWork = (view: View) => Awaitable<unknown>;

/** The predicted reads of an operation that wait for a connection. */
interface QueuedPlan {
  readonly plan: ReadPlan;
  readonly resolve: (result: PrefetchResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Limit of the plans that share a statement: with more, the first would wait for the others. */
const plansPerStatementMax = 256;
/** Limit of the tries of a statement: a pooled connection may be broken; a retry uses another. */
const triesMax = 3;

/** Fetches the predicted reads of operations. With it Get Blob needs 1 round trip; Put Blob, Insert
 *  Entity and Get Messages need 2. An operation whose reads cannot be predicted, such as the first
 *  one on a container, needs up to 4 more (docs/SCALE.md). Operations that arrive while all
 *  connections are busy share the next statement. */
export class Prefetcher {
  readonly #options: ReadersOptions;
  readonly #queue: QueuedPlan[] = [];
  #statements = 0;
  #isScheduled = false;

  constructor(options: ReadersOptions) {
    this.#options = options;
  }

  /** Fetches what `prefetch` reads in a dry run. `undefined` if that cannot be predicted. */
  async open(prefetch: PrefetchWork): Promise<PrefetchedState | undefined> {
    const plan = await this.#planOf(prefetch);
    return plan === undefined ? undefined : new PrefetchedState(await this.#read(plan));
  }

  /** Fetches the reads of transactions that are retried one after the other. Each may delete the
   *  entries it reads, as Get Messages does, so ranges are read further than one of them would. */
  async openForAll(all: readonly PrefetchWork[]): Promise<PrefetchResult | undefined> {
    const candidates = await Promise.all(all.map((prefetch) => this.#planOf(prefetch)));
    const plans = candidates.filter((each) => each !== undefined);
    return plans.length === 0 ? undefined : this.#read(mergeSequential(plans));
  }

  #planOf(prefetch: PrefetchWork): Promise<ReadPlan | undefined> {
    const { clock, time, readCache } = this.#options;
    return planReads({ readCache, now: clock.monotonic() + time.clockOffset, prefetch });
  }

  #read(plan: ReadPlan): Promise<PrefetchResult> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ plan, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#statements >= lookupsMax) return;
    this.#isScheduled = true;
    this.#options.clock.nextIteration(() => {
      this.#isScheduled = false;
      void this.#readQueued();
    });
  }

  async #readQueued(): Promise<void> {
    const batch = this.#queue.splice(0, plansPerStatementMax);
    if (batch.length === 0) return;
    this.#statements += 1;
    if (this.#queue.length > 0) this.#schedule();
    try {
      const result = await this.#query(mergeConcurrent(batch.map(({ plan }) => plan)));
      for (const { resolve } of batch) resolve(result);
    } catch (error) {
      for (const { reject } of batch) reject(asUnavailable(error));
    }
    this.#statements -= 1;
    if (this.#queue.length > 0) this.#schedule();
  }

  async #query(plan: ReadPlan): Promise<PrefetchResult> {
    const { pool, clock, time, readCache, values } = this.#options;
    const query = prefetchQuery(plan);
    for (let tries = 1; ; tries += 1) {
      try {
        const sentAt = clock.monotonic();
        const { rows } = await pool.query<PrefetchRow>(query);
        const [, sequence = "0", ticks = "0", clockText] = rows.find(([kind]) => kind === 0) ?? [];
        const row = clockText ? { sequence, ticks, clock: clockText } : undefined;
        const result = prefetchResultOf(plan, rows, headerOf(row, time, sentAt), values);
        updateCache(readCache, result);
        return result;
      } catch (error) {
        if (tries >= triesMax || !isTransient(error)) throw error;
      }
    }
  }
}

function updateCache(readCache: ReadCache, { keys }: PrefetchResult): void {
  for (const [text, found] of keys) {
    if (found === undefined) readCache.delete(text);
    else readCache.put(found);
  }
}
