import type { Pool } from "pg";

import type { Clock } from "../../base/world.ts";
import type { Awaitable } from "../engine.ts";
import type { View } from "../store.ts";
import { lookupsMax } from "./connections.ts";
import type { DatabaseTime } from "./database-time.ts";
import { prefetchQuery } from "./prefetch-query.ts";
import type { PrefetchRow } from "./prefetch-query.ts";
import { foreseenOf, PrefetchedState } from "./prefetched-state.ts";
import type { PrefetchResult } from "./prefetched-state.ts";
import type { ReadCache } from "./read-cache.ts";
import { planReads } from "./read-recorder.ts";
import type { ReadPlan } from "./read-recorder.ts";
import { mergeSequential, mergeConcurrent } from "./merge-read-plans.ts";
import { asUnavailable, isTransient } from "./unavailable.ts";

export interface ForeseenStatesOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly time: DatabaseTime;
  readonly memory: ReadCache;
}

type Foresee = (view: View) => Awaitable<unknown>;

interface Waiter {
  readonly wishes: ReadPlan;
  readonly resolve: (foreseen: PrefetchResult) => void;
  readonly reject: (error: unknown) => void;
}

const waitersPerStatementMax = 256;
/** A connection may have died unnoticed; a new one then does. */
const triesMax = 3;

/** Reads what several callers are going to ask for in one statement: one round trip, no
 *  transaction to begin and to end. Who comes while as many are under way as there are connections
 *  shares the next one. */
export class Prefetcher {
  readonly #options: ForeseenStatesOptions;
  readonly #waiters: Waiter[] = [];
  #statements = 0;
  #isScheduled = false;

  constructor(options: ForeseenStatesOptions) {
    this.#options = options;
  }

  /** Undefined if what the work will read cannot be foreseen. */
  async open(prefetch: Foresee): Promise<PrefetchedState | undefined> {
    const wishes = await this.#planOf(prefetch);
    return wishes === undefined ? undefined : new PrefetchedState(await this.#read(wishes));
  }

  /** What all of them read, if they run one after another and each takes what the one before has
   *  left. */
  async openForAll(all: readonly Foresee[]): Promise<PrefetchResult | undefined> {
    const found = await Promise.all(all.map((prefetch) => this.#planOf(prefetch)));
    const wishes = found.filter((each) => each !== undefined);
    return wishes.length === 0 ? undefined : this.#read(mergeSequential(wishes));
  }

  #planOf(prefetch: Foresee): Promise<ReadPlan | undefined> {
    const { clock, time, memory } = this.#options;
    return planReads({ memory, now: clock.monotonic() + time.clockOffset, prefetch });
  }

  #read(wishes: ReadPlan): Promise<PrefetchResult> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ wishes, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#statements >= lookupsMax) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#readForWaiting();
    });
  }

  async #readForWaiting(): Promise<void> {
    const waiters = this.#waiters.splice(0, waitersPerStatementMax);
    if (waiters.length === 0) return;
    this.#statements += 1;
    if (this.#waiters.length > 0) this.#schedule();
    try {
      const foreseen = await this.#query(mergeConcurrent(waiters.map(({ wishes }) => wishes)));
      for (const { resolve } of waiters) resolve(foreseen);
    } catch (error) {
      for (const { reject } of waiters) reject(asUnavailable(error));
    }
    this.#statements -= 1;
    if (this.#waiters.length > 0) this.#schedule();
  }

  async #query(wishes: ReadPlan): Promise<PrefetchResult> {
    const { pool, clock, time, memory } = this.#options;
    const query = prefetchQuery(wishes);
    for (let tries = 1; ; tries += 1) {
      try {
        const askedAt = clock.monotonic();
        const { rows } = await pool.query<PrefetchRow>(query);
        const first = rows.find(([kind]) => kind === 0);
        if (first === undefined) throw new Error("the table of the store's state is empty");
        const [, sequence, ticks, databaseClock] = first;
        time.observe(BigInt(databaseClock ?? 0), askedAt);
        const moment = {
          sequence: Number(sequence),
          ticks: BigInt(ticks),
          clockOffset: time.clockOffset,
        };
        const foreseen = foreseenOf(wishes, rows, moment);
        learnAll(memory, foreseen);
        return foreseen;
      } catch (error) {
        if (tries >= triesMax || !isTransient(error)) throw error;
      }
    }
  }
}

function learnAll(memory: ReadCache, { keys }: PrefetchResult): void {
  for (const [text, found] of keys) {
    if (found === undefined) memory.forget(text);
    else memory.put(found);
  }
}
