import type { Client } from "pg";

import type { Clock, Log } from "../../base/world.ts";
import type { Committed } from "../committer.ts";
import type { Key, Unwatch } from "../store.ts";
import { WatcherSet } from "../watchers.ts";

/** `Store.watch` for a database: `PostgresStore` reports its own commits; those of other server
 *  nodes arrive as notifications of the database (LISTEN), or are found by polling. */

interface NodeWatchersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly node: string;
  readonly channel: string;
  readonly newListener: () => Client;
  readonly latestSequence: () => Promise<number>;
  /** The sequence (number of the last commit) when the store was opened. */
  readonly sequence: number;
}

/** Interval of polling for commits of other nodes, whose notification may be lost with a
 *  connection. A database compatible with PostgreSQL may send none. */
const pollMilliseconds = 1_000;

/** Calls watchers (callbacks for a prefix of keys) after commits. A commit of another node is known
 *  only by its sequence, not by its keys, so it calls every watcher. */
export class NodeWatchers {
  readonly #options: NodeWatchersOptions;
  readonly #watchers: WatcherSet;
  #lastSequence: number;
  #cancelPoll: (() => void) | undefined;
  #listener: Client | undefined;

  constructor(options: NodeWatchersOptions) {
    this.#options = options;
    this.#watchers = new WatcherSet(options.log);
    this.#lastSequence = options.sequence;
  }

  watch(prefix: Key, onChange: () => void): Unwatch {
    const remove = this.#watchers.add(prefix, onChange);
    this.poll();
    if (this.#listener === undefined) void this.#listen();
    return remove;
  }

  /** Polls every second from now on, also without watchers: a poll measures the clock of the
   *  database as well. */
  poll(): void {
    this.#cancelPoll ??= this.#schedulePoll();
  }

  committed({ previous, sequence, writes }: Committed): void {
    const isExternal = previous > this.#lastSequence;
    this.#lastSequence = Math.max(this.#lastSequence, sequence);
    this.#watchers.callWhere(
      (prefix) => isExternal || writes.some(({ text }) => text.startsWith(prefix)),
    );
  }

  async stop(): Promise<void> {
    this.#watchers.clear();
    this.#cancelPoll?.();
    this.#cancelPoll = () => undefined;
    const listener = this.#listener;
    this.#listener = undefined;
    await listener?.end().catch(() => undefined);
  }

  #onExternalCommit(sequence: number): void {
    if (sequence <= this.#lastSequence) return;
    this.#lastSequence = sequence;
    this.#watchers.callWhere(() => true);
  }

  async #listen(): Promise<void> {
    const { newListener, channel, node, log } = this.#options;
    const listener = newListener();
    this.#listener = listener;
    const isCurrent = (): boolean => this.#listener === listener;
    const lose = (error?: Error): void => {
      if (!isCurrent()) return;
      // The next poll finds the commits that were missed, and listens again.
      this.#listener = undefined;
      if (error !== undefined)
        log.warn({ err: error }, "commit notifications of other nodes lost; polling every second");
    };
    listener.on("error", lose);
    listener.on("end", () => lose());
    listener.on("notification", ({ payload = "" }) => {
      const [sequence, by] = payload.split(" ");
      if (by !== node && isCurrent()) this.#onExternalCommit(Number(sequence));
    });
    try {
      await listener.connect();
      await listener.query(`LISTEN ${channel}`);
    } catch (error) {
      lose(error instanceof Error ? error : undefined);
      await listener.end().catch(() => undefined);
    }
  }

  #schedulePoll(): () => void {
    return this.#options.clock.after(pollMilliseconds, () => {
      this.#cancelPoll = this.#schedulePoll();
      void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    if (this.#listener === undefined && !this.#watchers.isEmpty) void this.#listen();
    try {
      this.#onExternalCommit(await this.#options.latestSequence());
    } catch {
      // The database is unreachable; the next poll tries again.
    }
  }
}
