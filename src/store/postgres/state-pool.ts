import type { Pool, PoolClient, QueryResult } from "pg";

import type { Clock } from "../../base/world.ts";
import type { StateView } from "../engine.ts";
import { databaseTicks } from "./database-time.ts";
import type { DatabaseTime } from "./database-time.ts";
import { beginState } from "./postgres-specifics.ts";
import type { ReadCache } from "./read-cache.ts";
import { SharedSnapshot } from "./shared-snapshot.ts";
import type { StateHeader } from "./shared-snapshot.ts";
import { asUnavailable } from "./unavailable.ts";

const momentText = `SELECT sequence, ticks, ${databaseTicks} AS clock FROM state`;
const beginReading = `${beginState}; ${momentText}`;
/** The lock that every commit takes: nobody else commits until this transaction ends. */
const beginWriting = `BEGIN; ${momentText} WHERE only_row = 1 FOR UPDATE`;
/** A connection may have died unnoticed; a new one then does. */
const beginsMax = 3;

interface MomentRow {
  readonly sequence: string;
  readonly ticks: string;
  readonly clock: string;
}

export interface StatesOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly time: DatabaseTime;
  readonly memory: ReadCache;
}

interface Waiter {
  readonly resolve: (view: StateView) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens states to read from. Whoever asks while one is being opened shares the next: it begins
 *  after all of them have asked, so it shows what was committed before any of them did. */
export class StatePool {
  readonly #options: StatesOptions;
  #waiters: Waiter[] = [];
  #isOpening = false;

  constructor(options: StatesOptions) {
    this.#options = options;
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

  async #openShared(): Promise<SharedSnapshot> {
    const { client, moment } = await this.#begin();
    const onUnused = (isBroken: boolean): void => {
      if (isBroken) client.release(true);
      else
        client.query("COMMIT").then(
          () => client.release(),
          (error: unknown) => client.release(error instanceof Error ? error : true),
        );
    };
    return new SharedSnapshot({ client, moment, memory: this.#options.memory, onUnused });
  }

  async #begin(): Promise<{ client: PoolClient; moment: StateHeader }> {
    for (let begins = 1; ; begins += 1) {
      let client: PoolClient | undefined;
      try {
        client = await this.#options.pool.connect();
        return { client, moment: await this.#moment(client, beginReading) };
      } catch (error) {
        client?.release(true);
        if (begins >= beginsMax) throw error;
      }
    }
  }

  /** Takes the lock; `client` holds it until it commits or rolls back. */
  async lock(client: PoolClient): Promise<SharedSnapshot> {
    const moment = await this.#moment(client, beginWriting);
    const { memory } = this.#options;
    return new SharedSnapshot({ client, moment, memory, onUnused: () => undefined });
  }

  async #moment(client: PoolClient, text: string): Promise<StateHeader> {
    const { clock, time } = this.#options;
    const askedAt = clock.monotonic();
    // Several statements in one message bring several results, which the types leave out.
    const results = (await client.query(text)) as unknown as QueryResult<MomentRow>[];
    const row = results[1]?.rows[0];
    if (row === undefined) throw new Error("the table of the store's state is empty");
    time.observe(BigInt(row.clock), askedAt);
    return {
      sequence: Number(row.sequence),
      ticks: BigInt(row.ticks),
      clockOffset: time.clockOffset,
    };
  }
}
