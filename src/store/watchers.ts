import type { Clock, Log } from "../base/world.ts";
import { textOfKey, type KeyText } from "../encoding/keys.ts";
import type { Committed } from "./committer.ts";
import type { Engine, EngineReader } from "./engine.ts";
import type { Key, Unwatch, WatchOptions } from "./store.ts";

/** The callbacks of `Store.watch`: which of them are called after a commit, and how commits of
 *  other processes are noticed. `TransactionalStore` uses `Watchers`; the PostgreSQL store learns
 *  of other nodes' commits from the database instead (`postgres/node-watchers.ts`) and uses
 *  `WatcherSet`. */

interface Watcher {
  readonly prefix: KeyText;
  readonly onChange: () => void;
  readonly isBackground: boolean;
}

/** The callbacks that `Store.watch` has registered, each for the keys with a prefix. */
export class WatcherSet {
  readonly #watchers = new Set<Watcher>();
  readonly #log: Log | undefined;

  constructor(log: Log | undefined) {
    this.#log = log;
  }

  get isEmpty(): boolean {
    return this.#watchers.size === 0;
  }

  /** Whether a client may wait for one of the changes: polls for them are then more frequent. */
  get hasClients(): boolean {
    for (const { isBackground } of this.#watchers) if (!isBackground) return true;
    return false;
  }

  /** Registers a callback for changes of keys with a prefix; returns a function that removes it. */
  add(prefix: Key, onChange: () => void, isBackground = false): Unwatch {
    const watcher = { prefix: textOfKey(prefix), onChange, isBackground };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  clear(): void {
    this.#watchers.clear();
  }

  /** Calls the callbacks whose prefix is affected by a commit. They run in microtasks, and an
   *  exception is logged: it must neither fail the commit nor end the process. */
  callWhere(isAffected: (prefix: KeyText) => boolean): void {
    for (const watcher of this.#watchers) {
      if (isAffected(watcher.prefix)) queueMicrotask(() => this.#call(watcher));
    }
  }

  #call(watcher: Watcher): void {
    if (!this.#watchers.has(watcher)) return;
    try {
      watcher.onChange();
    } catch (error) {
      this.#log?.error({ err: error }, "store watcher failed");
    }
  }
}

interface WatchersOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log?: Log | undefined;
}

/** Interval of polling for commits of other processes. It is shorter while a client may wait for
 *  one: for the end of a lock, or of another client's permission to cache. */
const pollMilliseconds = { background: 50, client: 20 } as const;

/** Calls watchers after commits. For commits of this process the written keys are known. Commits of
 *  other processes show when the engine's state is read: by a poll, and under the write lock before
 *  each commit of this process. They call the watchers of all keys with the same first byte, which
 *  names the table. */
export class Watchers {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #log: Log | undefined;
  readonly #set: WatcherSet;
  #lastSequence = 0;
  #cancelPoll: (() => void) | undefined;
  #isFailing = false;

  constructor({ engine, clock, log }: WatchersOptions) {
    this.#engine = engine;
    this.#clock = clock;
    this.#log = log;
    this.#set = new WatcherSet(log);
  }

  watch(prefix: Key, onChange: () => void, { isBackground = false }: WatchOptions = {}): Unwatch {
    if (this.#set.isEmpty) this.#lastSequence = this.#latestSequence();
    const isFirstOfClient = !isBackground && !this.#set.hasClients;
    const remove = this.#set.add(prefix, onChange, isBackground);
    if (isFirstOfClient) this.#cancelPoll?.();
    if (isFirstOfClient || this.#cancelPoll === undefined) this.#cancelPoll = this.#schedulePoll();
    return () => {
      remove();
      if (this.#set.isEmpty) this.stop();
    };
  }

  /** Called with the state before each commit of this process, and by each poll: notices commits of
   *  other processes. */
  saw(state: EngineReader): void {
    const since = this.#lastSequence;
    if (this.#set.isEmpty || state.sequence <= since) return;
    this.#lastSequence = state.sequence;
    const isChanged = state.changedSince?.(since);
    this.#set.callWhere((prefix) => isChanged?.(prefix.charCodeAt(0)) !== false);
  }

  committed({ sequence, writes }: Committed): void {
    // A poll may have run between the commit and this call: then it has called the watchers.
    if (this.#set.isEmpty || sequence <= this.#lastSequence) return;
    this.#lastSequence = sequence;
    this.#set.callWhere((prefix) => writes.some(({ text }) => text.startsWith(prefix)));
  }

  stop(): void {
    this.#set.clear();
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
  }

  #latestSequence(): number {
    const view = this.#engine.open();
    view.close();
    return view.sequence;
  }

  #schedulePoll(): () => void {
    const { background, client } = pollMilliseconds;
    return this.#clock.after(this.#set.hasClients ? client : background, () => {
      this.#cancelPoll = this.#schedulePoll();
      this.#poll();
    });
  }

  /** Looks for commits of other processes. Logs a failure of the engine, because an exception in a
   *  timer would end the process; the next poll finds the missed commits. */
  #poll(): void {
    try {
      const view = this.#engine.open();
      try {
        this.saw(view);
      } finally {
        view.close();
      }
      this.#isFailing = false;
    } catch (error) {
      // Logged once per outage: there are up to 50 polls per second.
      const message = "polling for commits of other processes failed; retrying";
      if (!this.#isFailing) this.#log?.warn({ err: error }, message);
      this.#isFailing = true;
    }
  }
}
