import type { Pool, PoolClient, QueryResult } from "pg";

import type { Clock } from "../../base/world.ts";
import type { StateView, ValueCodec } from "../engine.ts";
import { storeTicks, type DatabaseTime } from "./database-time.ts";
import { beginSnapshotRead } from "./postgres-specifics.ts";
import type { ReadCache } from "./read-plans.ts";
import { headerOf, SharedSnapshot, type HeaderRow, type StateHeader } from "./shared-snapshot.ts";
import { asUnavailable } from "./unavailable.ts";
import { textOfKey } from "../../encoding/keys.ts";

/** Opens states of the database for `PostgresStore`: read-only transactions for snapshots and first
 *  attempts, and the one that holds the commit lock. `keepActive` is for views that are open for
 *  long. */

const headerQuery = `SELECT sequence, ticks, ${storeTicks} AS clock FROM state`;
const beginReading = `${beginSnapshotRead}; ${headerQuery}`;
/** Takes the lock of every commit: no other node commits until this transaction ends. */
const beginWriting = `BEGIN; ${headerQuery} WHERE only_row = 1 FOR UPDATE`;
/** Limit of the tries to open a state: a pooled connection may be broken; a retry uses another. */
const beginsMax = 3;

/** What `StatePool` and `Prefetcher` share to read: connections, clocks and the read cache. */
export interface ReadersOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly time: DatabaseTime;
  readonly readCache: ReadCache;
  /** Decrypts the values; undefined: they are stored as they are. */
  readonly values?: ValueCodec | undefined;
}

interface QueuedCall {
  readonly resolve: (view: StateView) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens states of the database. Calls that are made while one is being opened share the next one.
 *  It begins after all these calls, so it contains every commit acknowledged before. */
export class StatePool {
  readonly #options: ReadersOptions;
  #queue: QueuedCall[] = [];
  #isOpening = false;

  constructor(options: ReadersOptions) {
    this.#options = options;
  }

  open(): Promise<StateView> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ resolve, reject });
      if (this.#isOpening) return;
      this.#isOpening = true;
      this.#options.clock.nextIteration(() => void this.#openQueued());
    });
  }

  async #openQueued(): Promise<void> {
    while (this.#queue.length > 0) {
      const queued = this.#queue;
      this.#queue = [];
      try {
        const state = await this.#openShared();
        for (const { resolve } of queued) resolve(state.view());
      } catch (error) {
        for (const { reject } of queued) reject(asUnavailable(error));
      }
    }
    this.#isOpening = false;
  }

  async #openShared(): Promise<SharedSnapshot> {
    const { client, header } = await this.#begin();
    const onUnused = (isBroken: boolean): void => {
      if (isBroken) client.release(true);
      else
        client.query("COMMIT").then(
          () => client.release(),
          (error: unknown) => client.release(error instanceof Error ? error : true),
        );
    };
    return new SharedSnapshot({ client, header, ...this.#options, onUnused });
  }

  async #begin(): Promise<{ client: PoolClient; header: StateHeader }> {
    for (let begins = 1; ; begins += 1) {
      let client: PoolClient | undefined;
      try {
        client = await this.#options.pool.connect();
        return { client, header: await this.#readHeader(client, beginReading) };
      } catch (error) {
        client?.release(true);
        if (begins >= beginsMax) throw error;
      }
    }
  }

  /** Opens a state and takes the lock of every commit, until the transaction of `client` ends. */
  async lock(client: PoolClient): Promise<SharedSnapshot> {
    const header = await this.#readHeader(client, beginWriting);
    return new SharedSnapshot({ client, header, ...this.#options, onUnused: () => undefined });
  }

  async #readHeader(client: PoolClient, text: string): Promise<StateHeader> {
    const { clock, time } = this.#options;
    const sentAt = clock.monotonic();
    // A message with several statements returns several results, which the driver's types omit.
    const results = (await client.query(text)) as unknown as QueryResult<HeaderRow>[];
    return headerOf(results[1]?.rows[0], time, sentAt);
  }
}

/** Pause of `keepActive`: a third of the 90 s after which the database ends idle transactions. */
const pauseMilliseconds = 30_000;
/** The key that `keepActive` reads; it need not exist. */
const anyKey = Uint8Array.of(1);

/** Reads a key from time to time, so that the database does not end the transaction of a view that
 *  is kept for long, for example while the content of a blob is exported. Returns a function that
 *  ends it. */
export function keepActive(view: StateView, clock: Clock): () => void {
  let isEnded = false;
  let cancel = (): void => undefined;
  const wait = (): void => {
    if (!isEnded) cancel = clock.after(pauseMilliseconds, () => void read());
  };
  const read = async (): Promise<void> => {
    // A broken connection is reported to the user of the view when it reads.
    await Promise.resolve(view.get(anyKey, textOfKey(anyKey))).catch(() => undefined);
    wait();
  };
  wait();
  return () => {
    isEnded = true;
    cancel();
  };
}
