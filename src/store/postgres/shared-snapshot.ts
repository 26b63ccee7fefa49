import type { PoolClient } from "pg";

import type { Ticks } from "../../base/ticks.ts";
import type { ScanBounds, VersionedEntry, StateView } from "../engine.ts";
import type { KeyText } from "../key-text.ts";
import type { Key } from "../store.ts";
import type { ReadCache } from "./read-cache.ts";
import { getQuery, gotten, scanQuery, scanned } from "./rows.ts";
import type { GetRow, ScanRow, WantedKey } from "./rows.ts";
import { asUnavailable } from "./unavailable.ts";

export interface StateHeader {
  readonly sequence: number;
  readonly ticks: Ticks;
  readonly clockOffset: Ticks;
}

export interface SharedStateOptions {
  readonly client: PoolClient;
  readonly moment: StateHeader;
  readonly memory: ReadCache;
  readonly onUnused: (isBroken: boolean) => void;
}

interface Wish extends WantedKey {
  readonly resolve: (found: VersionedEntry | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** One state of the database, on a connection that several views share. Keys that are asked for in
 *  the same turn of the event loop are looked up together. */
export class SharedSnapshot {
  readonly moment: StateHeader;
  readonly #client: PoolClient;
  readonly #memory: ReadCache;
  readonly #onUnused: (isBroken: boolean) => void;
  #users = 0;
  #wishes: Wish[] = [];
  #lastQuery: Promise<unknown> = Promise.resolve();
  #isBroken = false;

  constructor({ client, moment, memory, onUnused }: SharedStateOptions) {
    this.#client = client;
    this.moment = moment;
    this.#memory = memory;
    this.#onUnused = onUnused;
  }

  view(): StateView {
    this.#users += 1;
    let isOpen = true;
    return {
      ...this.moment,
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

  /** Resolves when no query runs any more. */
  async idle(): Promise<void> {
    await this.#lastQuery;
  }

  #get(key: Key, text: KeyText): Promise<VersionedEntry | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#wishes.length === 0) setImmediate(() => void this.#inLine(() => this.#lookUp()));
      this.#wishes.push({ key, text, resolve, reject });
    });
  }

  async #lookUp(): Promise<void> {
    const wishes = this.#wishes;
    this.#wishes = [];
    try {
      const { rows } = await this.#client.query<GetRow>(getQuery(wishes));
      const found = gotten(wishes, rows);
      for (const each of found) if (each !== undefined) this.#memory.put(each);
      for (const [index, wish] of wishes.entries()) wish.resolve(found[index]);
    } catch (error) {
      this.#isBroken = true;
      for (const wish of wishes) wish.reject(asUnavailable(error));
    }
  }

  async #scan(bounds: ScanBounds, countMax: number): Promise<VersionedEntry[]> {
    try {
      const query = scanQuery(bounds, countMax);
      const { rows } = await this.#inLine(() => this.#client.query<ScanRow>(query));
      return rows.map(scanned);
    } catch (error) {
      this.#isBroken = true;
      throw asUnavailable(error);
    }
  }

  /** A connection takes one query at a time; keys that are wished for meanwhile go together. */
  #inLine<T>(query: () => Promise<T>): Promise<T> {
    const asked = this.#lastQuery.then(query);
    this.#lastQuery = asked.catch(() => undefined);
    return asked;
  }

  async #end(): Promise<void> {
    await this.#lastQuery;
    this.#onUnused(this.#isBroken);
  }
}
