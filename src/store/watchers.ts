import type { Clock, Log } from "../base/world.ts";
import type { Committed } from "./group-writer.ts";
import type { Engine } from "./engine.ts";
import { textOfKey } from "./key-text.ts";
import type { KeyText } from "./key-text.ts";
import type { Key, Unwatch } from "./store.ts";

interface Watcher {
  readonly prefix: KeyText;
  readonly onChange: () => void;
}

export interface WatchersOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log?: Log | undefined;
  /** Called after the first watcher was added or the last one removed. */
  readonly onWatchingChanged?: () => void;
}

/** Interval of polling for commits of other processes. */
const pollMilliseconds = 50;

/** Calls watchers after commits. For commits of this process, of its commit leader and of the other
 *  followers the written keys are known. Any other commit shows only as a higher sequence, so it
 *  calls every watcher. */
export class Watchers {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #log: Log | undefined;
  readonly #onWatchingChanged: (() => void) | undefined;
  readonly #watchers = new Set<Watcher>();
  #lastSequence = 0;
  #cancelPoll: (() => void) | undefined;
  #isFailing = false;

  constructor({ engine, clock, log, onWatchingChanged }: WatchersOptions) {
    this.#engine = engine;
    this.#clock = clock;
    this.#log = log;
    this.#onWatchingChanged = onWatchingChanged;
  }

  get isWatching(): boolean {
    return this.#watchers.size > 0;
  }

  watch(prefix: Key, onChange: () => void): Unwatch {
    if (this.#watchers.size === 0) this.#lastSequence = this.#latestSequence();
    const watcher: Watcher = { prefix: textOfKey(prefix), onChange };
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) this.#onWatchingChanged?.();
    this.#cancelPoll ??= this.#schedulePoll();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.stop();
    };
  }

  committed({ previous, sequence, writes }: Committed): void {
    // The watchers were called for a later commit: its notice was faster, or the poll has found it.
    if (this.#watchers.size === 0 || sequence <= this.#lastSequence) return;
    const isExternal = previous !== this.#lastSequence;
    this.#lastSequence = sequence;
    for (const watcher of this.#watchers) {
      const hasMatch = writes.some(({ text }) => text.startsWith(watcher.prefix));
      if (isExternal || hasMatch) this.#call(watcher);
    }
  }

  stop(): void {
    this.#watchers.clear();
    this.#onWatchingChanged?.();
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
  }

  /** Calls the watcher in a microtask and logs an exception: it must neither fail the commit nor
   *  end the process. */
  #call(watcher: Watcher): void {
    queueMicrotask(() => {
      if (!this.#watchers.has(watcher)) return;
      try {
        watcher.onChange();
      } catch (error) {
        this.#log?.error({ err: error }, "store watcher failed");
      }
    });
  }

  #latestSequence(): number {
    const view = this.#engine.open();
    view.close();
    return view.sequence;
  }

  /** The latest sequence; undefined if the engine fails, because an exception in a timer would end
   *  the process. The next poll finds the missed commits. */
  #polledSequence(): number | undefined {
    try {
      const sequence = this.#latestSequence();
      this.#isFailing = false;
      return sequence;
    } catch (error) {
      // Logged once per outage: there are 20 polls per second.
      if (!this.#isFailing) {
        this.#log?.warn(
          { err: error },
          "polling for commits of other processes failed; retrying every 50 ms",
        );
      }
      this.#isFailing = true;
      return undefined;
    }
  }

  #schedulePoll(): () => void {
    return this.#clock.after(pollMilliseconds, () => {
      this.#cancelPoll = this.#schedulePoll();
      const sequence = this.#polledSequence();
      if (sequence === undefined || sequence === this.#lastSequence) return;
      this.#lastSequence = sequence;
      for (const watcher of this.#watchers) this.#call(watcher);
    });
  }
}
