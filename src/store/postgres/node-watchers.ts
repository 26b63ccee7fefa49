import type { Client } from "pg";

import type { Clock, Log } from "../../base/world.ts";
import { textOfKey } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";
import type { Key, Unwatch } from "../store.ts";
import type { NodeCommit } from "./postgres-committer.ts";

interface Watcher {
  readonly prefix: KeyText;
  readonly onChange: () => void;
}

export interface NodeWatchersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly node: string;
  readonly channel: string;
  readonly newListener: () => Client;
  readonly latestSequence: () => Promise<number>;
  /** The sequence when the store was opened. */
  readonly sequence: number;
}

/** Behind the notifications, in case they do not come: a broken connection, or a database that
 *  has none. */
const pollMilliseconds = 1_000;

/**
 * Tells watchers of commits. What this node commits is known by key; that another has committed is
 * heard of by its sequence alone, so then every watcher is called.
 */
export class NodeWatchers {
  readonly #options: NodeWatchersOptions;
  readonly #watchers = new Set<Watcher>();
  #seenSequence: number;
  #cancelPoll: (() => void) | undefined;
  #listener: Client | undefined;

  constructor(options: NodeWatchersOptions) {
    this.#options = options;
    this.#seenSequence = options.sequence;
  }

  watch(prefix: Key, onChange: () => void): Unwatch {
    const watcher: Watcher = { prefix: textOfKey(prefix), onChange };
    this.#watchers.add(watcher);
    this.#cancelPoll ??= this.#schedulePoll();
    if (this.#listener === undefined) void this.#listen();
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  committed({ previous, sequence, texts }: NodeCommit): void {
    const isForeign = previous > this.#seenSequence;
    this.#seenSequence = Math.max(this.#seenSequence, sequence);
    for (const watcher of this.#watchers) {
      if (isForeign || texts.some((text) => text.startsWith(watcher.prefix))) this.#call(watcher);
    }
  }

  async stop(): Promise<void> {
    this.#watchers.clear();
    this.#cancelPoll?.();
    this.#cancelPoll = () => undefined;
    const listener = this.#listener;
    this.#listener = undefined;
    await listener?.end().catch(() => undefined);
  }

  #heardOf(sequence: number): void {
    if (sequence <= this.#seenSequence) return;
    this.#seenSequence = sequence;
    for (const watcher of this.#watchers) this.#call(watcher);
  }

  /** Apart from whoever commits, who must not stumble over a callback that throws; nor must the
   *  process, which would end by an error that nobody catches. */
  #call(watcher: Watcher): void {
    queueMicrotask(() => {
      if (!this.#watchers.has(watcher)) return;
      try {
        watcher.onChange();
      } catch (error) {
        this.#options.log.error({ err: error }, "a watcher of the store failed");
      }
    });
  }

  async #listen(): Promise<void> {
    const { newListener, channel, node, log } = this.#options;
    const listener = newListener();
    this.#listener = listener;
    const isCurrent = (): boolean => this.#listener === listener;
    const lose = (error?: Error): void => {
      if (!isCurrent()) return;
      // The next poll finds what was missed and begins to listen again.
      this.#listener = undefined;
      if (error !== undefined) log.warn({ err: error }, "commit notifications of other nodes lost");
    };
    listener.on("error", lose);
    listener.on("end", () => lose());
    listener.on("notification", ({ payload = "" }) => {
      const [sequence, by] = payload.split(" ");
      if (by !== node && isCurrent()) this.#heardOf(Number(sequence));
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
      if (this.#watchers.size > 0) void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    if (this.#listener === undefined) void this.#listen();
    try {
      this.#heardOf(await this.#options.latestSequence());
    } catch {
      // Away for now: the next poll tries again.
    }
  }
}
