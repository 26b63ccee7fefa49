import type { Pool, PoolClient, QueryResult } from "pg";

import type { Clock } from "../../core/world.ts";
import type { StateView } from "../engine.ts";
import { databaseTicks } from "./database-time.ts";
import type { DatabaseTime } from "./database-time.ts";
import { SharedState } from "./shared-state.ts";
import type { StateMoment } from "./shared-state.ts";
import { asUnavailable } from "./unavailable.ts";

const momentText = `SELECT sequence, ticks, ${databaseTicks} AS clock FROM state`;
const beginReading = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${momentText}`;
/** The lock that every commit takes: nobody else commits until this transaction ends. */
const beginWriting = `BEGIN; ${momentText} WHERE only_row = 1 FOR UPDATE`;
/** A connection may have died unnoticed; a new one then does. */
const beginsMax = 3;

interface MomentRow {
  readonly sequence: string;
  readonly ticks: string;
  readonly clock: string;
}

interface Waiter {
  readonly resolve: (view: StateView) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens states to read from. Whoever asks while one is being opened shares the next: it begins
 *  after all of them have asked, so it shows what was committed before any of them did. */
export class States {
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #time: DatabaseTime;
  #waiters: Waiter[] = [];
  #isOpening = false;

  constructor(pool: Pool, clock: Clock, time: DatabaseTime) {
    this.#pool = pool;
    this.#clock = clock;
    this.#time = time;
  }

  open(): Promise<StateView> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      if (this.#isOpening) return;
      this.#isOpening = true;
      setImmediate(() => void this.#openWaiting());
    });
  }

  async #openWaiting(): Promise<void> {
    while (this.#waiters.length > 0) {
      const waiters = this.#waiters;
      this.#waiters = [];
      try {
        const state = await this.#openShared();
        for (const { resolve } of waiters) resolve(state.view());
      } catch (error) {
        for (const { reject } of waiters) reject(asUnavailable(error));
      }
    }
    this.#isOpening = false;
  }

  async #openShared(): Promise<SharedState> {
    const { client, moment } = await this.#begin();
    return new SharedState(client, moment, (isBroken) => {
      if (isBroken) client.release(true);
      else
        client.query("COMMIT").then(
          () => client.release(),
          (error: unknown) => client.release(error instanceof Error ? error : true),
        );
    });
  }

  async #begin(): Promise<{ client: PoolClient; moment: StateMoment }> {
    for (let begins = 1; ; begins += 1) {
      let client: PoolClient | undefined;
      try {
        client = await this.#pool.connect();
        return { client, moment: await this.#moment(client, beginReading) };
      } catch (error) {
        client?.release(true);
        if (begins >= beginsMax) throw error;
      }
    }
  }

  /** Takes the lock; `client` holds it until it commits or rolls back. */
  async lock(client: PoolClient): Promise<SharedState> {
    return new SharedState(client, await this.#moment(client, beginWriting), () => undefined);
  }

  async #moment(client: PoolClient, text: string): Promise<StateMoment> {
    const askedAt = this.#clock.monotonic();
    // Several statements in one message bring several results, which the types leave out.
    const results = (await client.query(text)) as unknown as QueryResult<MomentRow>[];
    const row = results[1]?.rows[0];
    if (row === undefined) throw new Error("the table of the store's state is empty");
    this.#time.observe(BigInt(row.clock), askedAt);
    const { epoch } = this.#time;
    return { sequence: Number(row.sequence), ticks: BigInt(row.ticks), epoch };
  }
}
