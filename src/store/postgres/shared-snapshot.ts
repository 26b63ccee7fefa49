import type { Clock } from "../../base/world.ts";
import type { PoolClient } from "pg";

import type { Ticks } from "../../base/ticks.ts";
import type { ScanBounds, VersionedEntry, StateView, ValueCodec } from "../engine.ts";
import type { KeyText } from "../../encoding/keys.ts";
import type { Key } from "../store.ts";
import type { DatabaseTime } from "./database-time.ts";
import type { ReadCache } from "./read-plans.ts";
import { getQuery, entriesOf, scanQuery, entryOf } from "./rows.ts";
import type { GetRow, ScanRow, PlannedKey } from "./rows.ts";
import { asUnavailable } from "./unavailable.ts";

/** One state of the database, on a connection that several views share, because the connections are
 *  few. `state-pool.ts` opens it. */

/** What a state has besides its entries: number and time of its last commit, clock offset. */
export interface StateHeader {
  readonly sequence: number;
  readonly ticks: Ticks;
  readonly clockOffset: Ticks;
}

/** The row of the table `state`, with the database's clock when it was read. */
export interface HeaderRow {
  readonly sequence: string;
  readonly ticks: string;
  readonly clock: string;
}

/** Decodes the header of a state. Also measures the database's clock: `sentAt` is the monotonic
 *  time at which the query was sent. */
export function headerOf(
  row: HeaderRow | undefined,
  time: DatabaseTime,
  sentAt: Ticks,
): StateHeader {
  if (row === undefined) throw new Error("the table state has no row");
  time.observe(BigInt(row.clock), sentAt);
  const { clockOffset } = time;
  return { sequence: Number(row.sequence), ticks: BigInt(row.ticks), clockOffset };
}

interface SharedSnapshotOptions {
  readonly clock: Clock;
  readonly client: PoolClient;
  readonly header: StateHeader;
  readonly readCache: ReadCache;
  /** Decrypts the values; undefined: they are stored as they are. */
  readonly values?: ValueCodec | undefined;
  readonly onUnused: (isBroken: boolean) => void;
}

interface PendingGet extends PlannedKey {
  readonly resolve: (found: VersionedEntry | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** A state of the database for several views. Gets of one event-loop iteration share a query. */
export class SharedSnapshot {
  readonly header: StateHeader;
  readonly #clock: Clock;
  readonly #client: PoolClient;
  readonly #readCache: ReadCache;
  readonly #values: ValueCodec | undefined;
  readonly #onUnused: (isBroken: boolean) => void;
  #users = 0;
  #pendingGets: PendingGet[] = [];
  #lastQuery: Promise<unknown> = Promise.resolve();
  #isBroken = false;

  constructor({ clock, client, header, readCache, values, onUnused }: SharedSnapshotOptions) {
    this.#clock = clock;
    this.#client = client;
    this.header = header;
    this.#readCache = readCache;
    this.#values = values;
    this.#onUnused = onUnused;
  }

  view(): StateView {
    this.#users += 1;
    let isOpen = true;
    const { sequence, ticks, clockOffset } = this.header;
    return {
      sequence,
      ticks,
      clockOffset,
      priorityOwner: 0,
      get: (key, text) => this.#get(key, text),
      scan: (bounds, countMax) => this.#scan(bounds, countMax),
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#users -= 1;
        if (this.#users === 0) void this.#end();
      },
    };
  }

  /** Resolves when no query is running, so that the connection can be used for a commit. */
  async idle(): Promise<void> {
    await this.#lastQuery;
  }

  #get(key: Key, text: KeyText): Promise<VersionedEntry | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#pendingGets.length === 0)
        this.#clock.nextIteration(() => void this.#afterLastQuery(() => this.#lookUp()));
      this.#pendingGets.push({ key, text, resolve, reject });
    });
  }

  async #lookUp(): Promise<void> {
    const gets = this.#pendingGets;
    this.#pendingGets = [];
    try {
      const { rows } = await this.#client.query<GetRow>(getQuery(gets));
      const found = entriesOf(gets, rows, this.#values);
      for (const each of found) if (each !== undefined) this.#readCache.put(each);
      for (const [index, get] of gets.entries()) get.resolve(found[index]);
    } catch (error) {
      this.#isBroken = true;
      for (const get of gets) get.reject(asUnavailable(error));
    }
  }

  async #scan(bounds: ScanBounds, countMax: number): Promise<VersionedEntry[]> {
    try {
      const query = scanQuery(bounds, countMax);
      const { rows } = await this.#afterLastQuery(() => this.#client.query<ScanRow>(query));
      return rows.map((row) => entryOf(row, this.#values));
    } catch (error) {
      this.#isBroken = true;
      throw asUnavailable(error);
    }
  }

  /** Runs one query at a time; gets that arrive meanwhile are combined into the next one. */
  #afterLastQuery<T>(query: () => Promise<T>): Promise<T> {
    const result = this.#lastQuery.then(query);
    this.#lastQuery = result.catch(() => undefined);
    return result;
  }

  async #end(): Promise<void> {
    await this.#lastQuery;
    this.#onUnused(this.#isBroken);
  }
}
