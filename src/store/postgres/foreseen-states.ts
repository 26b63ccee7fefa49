import type { Pool } from "pg";

import type { Clock } from "../../core/world.ts";
import type { Awaitable } from "../engine.ts";
import type { View } from "../store.ts";
import { lookupsMax } from "./connections.ts";
import type { DatabaseTime } from "./database-time.ts";
import { foreseenQuery } from "./foreseen-rows.ts";
import type { ForeseenRow } from "./foreseen-rows.ts";
import { foreseenOf, ForeseenState } from "./foreseen-state.ts";
import type { Foreseen } from "./foreseen-state.ts";
import type { Memory } from "./memory.ts";
import { rehearse } from "./rehearsal.ts";
import type { Wishes } from "./rehearsal.ts";
import { inSuccession, together } from "./wishes.ts";
import { asUnavailable, isPassing } from "./unavailable.ts";

export interface ForeseenStatesOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly time: DatabaseTime;
  readonly memory: Memory;
}

type Foresee = (view: View) => Awaitable<unknown>;

interface Waiter {
  readonly wishes: Wishes;
  readonly resolve: (foreseen: Foreseen) => void;
  readonly reject: (error: unknown) => void;
}

const waitersPerStatementMax = 256;
/** A connection may have died unnoticed; a new one then does. */
const triesMax = 3;

/** Reads what several callers are going to ask for in one statement: one round trip, no
 *  transaction to begin and to end. Who comes while as many are under way as there are connections
 *  shares the next one. */
export class ForeseenStates {
  readonly #options: ForeseenStatesOptions;
  readonly #waiters: Waiter[] = [];
  #statements = 0;
  #isScheduled = false;

  constructor(options: ForeseenStatesOptions) {
    this.#options = options;
  }

  /** Undefined if what the work will read cannot be foreseen. */
  async open(foresee: Foresee): Promise<ForeseenState | undefined> {
    const wishes = await this.#wishesOf(foresee);
    return wishes === undefined ? undefined : new ForeseenState(await this.#read(wishes));
  }

  /** What all of them read, if they run one after another and each takes what the one before has
   *  left. */
  async openForAll(all: readonly Foresee[]): Promise<Foreseen | undefined> {
    const found = await Promise.all(all.map((foresee) => this.#wishesOf(foresee)));
    const wishes = found.filter((each) => each !== undefined);
    return wishes.length === 0 ? undefined : this.#read(inSuccession(wishes));
  }

  #wishesOf(foresee: Foresee): Promise<Wishes | undefined> {
    const { clock, time, memory } = this.#options;
    return rehearse({ memory, now: clock.monotonic() + time.epoch, foresee });
  }

  #read(wishes: Wishes): Promise<Foreseen> {
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
      const foreseen = await this.#query(together(waiters.map(({ wishes }) => wishes)));
      for (const { resolve } of waiters) resolve(foreseen);
    } catch (error) {
      for (const { reject } of waiters) reject(asUnavailable(error));
    }
    this.#statements -= 1;
    if (this.#waiters.length > 0) this.#schedule();
  }

  async #query(wishes: Wishes): Promise<Foreseen> {
    const { pool, clock, time, memory } = this.#options;
    const query = foreseenQuery(wishes);
    for (let tries = 1; ; tries += 1) {
      try {
        const askedAt = clock.monotonic();
        const { rows } = await pool.query<ForeseenRow>(query);
        const first = rows.find(([kind]) => kind === 0);
        if (first === undefined) throw new Error("the table of the store's state is empty");
        const [, sequence, ticks, databaseClock] = first;
        time.observe(BigInt(databaseClock ?? 0), askedAt);
        const moment = { sequence: Number(sequence), ticks: BigInt(ticks), epoch: time.epoch };
        const foreseen = foreseenOf(wishes, rows, moment);
        learnAll(memory, foreseen);
        return foreseen;
      } catch (error) {
        if (tries >= triesMax || !isPassing(error)) throw error;
      }
    }
  }
}

function learnAll(memory: Memory, { keys }: Foreseen): void {
  for (const [text, found] of keys) {
    if (found === undefined) memory.forget(text);
    else memory.learn(found);
  }
}
