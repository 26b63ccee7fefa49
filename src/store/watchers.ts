import type { Clock, Log } from "../base/world.ts";
import type { Committed } from "./committer.ts";
import type { Engine } from "./engine.ts";
import { textOfKey } from "./key-text.ts";
import type { KeyText } from "./key-text.ts";
import type { Key, Unwatch } from "./store.ts";

interface Watcher {
  readonly prefix: KeyText;
  readonly onChange: () => void;
}

/** How soon a commit of another process is noticed. */
const pollMilliseconds = 50;

/**
 * Tells watchers of commits. What this process commits is known by key; that another process has
 * committed shows in the sequence alone, so then every watcher is called.
 */
export class Watchers {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #log: Log | undefined;
  readonly #watchers = new Set<Watcher>();
  #seenSequence = 0;
  #cancelPoll: (() => void) | undefined;
  #isFailing = false;

  constructor(engine: Engine, clock: Clock, log?: Log) {
    this.#engine = engine;
    this.#clock = clock;
    this.#log = log;
  }

  watch(prefix: Key, onChange: () => void): Unwatch {
    if (this.#watchers.size === 0) this.#seenSequence = this.#latestSequence();
    const watcher: Watcher = { prefix: textOfKey(prefix), onChange };
    this.#watchers.add(watcher);
    this.#cancelPoll ??= this.#schedulePoll();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.stop();
    };
  }

  committed({ previous, sequence, writes }: Committed): void {
    if (this.#watchers.size === 0) return;
    const isForeign = previous !== this.#seenSequence;
    this.#seenSequence = sequence;
    for (const watcher of this.#watchers) {
      const isTouched = writes.some(({ text }) => text.startsWith(watcher.prefix));
      if (isForeign || isTouched) this.#call(watcher);
    }
  }

  stop(): void {
    this.#watchers.clear();
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
  }

  /** Apart from whoever commits, who must not stumble over a callback that throws; nor must the
   *  process, which would end by an error that nobody catches. */
  #call(watcher: Watcher): void {
    queueMicrotask(() => {
      if (!this.#watchers.has(watcher)) return;
      try {
        watcher.onChange();
      } catch (error) {
        this.#log?.error({ err: error }, "a watcher of the store failed");
      }
    });
  }

  #latestSequence(): number {
    const view = this.#engine.open();
    view.close();
    return view.sequence;
  }

  /** Undefined if the engine is in trouble: nobody would catch what a timer throws, and the process
   *  would end. The next poll finds what this one missed. */
  #polledSequence(): number | undefined {
    try {
      const sequence = this.#latestSequence();
      this.#isFailing = false;
      return sequence;
    } catch (error) {
      // Once for all the polls that fail in a row, of which there are many in a second.
      if (!this.#isFailing) {
        this.#log?.warn({ err: error }, "commits of other processes cannot be noticed for now");
      }
      this.#isFailing = true;
      return undefined;
    }
  }

  #schedulePoll(): () => void {
    return this.#clock.after(pollMilliseconds, () => {
      this.#cancelPoll = this.#schedulePoll();
      const sequence = this.#polledSequence();
      if (sequence === undefined || sequence === this.#seenSequence) return;
      this.#seenSequence = sequence;
      for (const watcher of this.#watchers) this.#call(watcher);
    });
  }
}
