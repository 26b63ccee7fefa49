import { ticksPerSecond } from "../core/ticks.ts";
import type { Ticks } from "../core/ticks.ts";
import type { Meter } from "../core/meter.ts";
import type { Clock, Log } from "../core/world.ts";
import { Attempt } from "./attempt.ts";
import { Committer } from "./committer.ts";
import type { Awaitable, Engine, StateReader } from "./engine.ts";
import { OpenViews } from "./open-views.ts";
import { runAttempt } from "./pending.ts";
import type { Outcome } from "./pending.ts";
import { snapshotView } from "./snapshot-view.ts";
import type { Key, Store, TransactOptions, Transaction, Unwatch, View } from "./store.ts";
import { storeTime } from "./time.ts";
import { Watchers } from "./watchers.ts";

export interface TransactionalStoreOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Learns of watchers that fail. */
  readonly log?: Log;
  readonly meter?: Pick<Meter, "commit"> | undefined;
  readonly snapshotAgeMax?: Ticks;
}

export const attemptsMaxDefault = 64;
export const snapshotAgeMaxDefault = 60n * ticksPerSecond;

/** The store was closed, by this process. */
export class StoreClosed extends Error {
  override readonly name = "StoreClosed";
}

/** Optimistic transactions, snapshots and watching, on any engine. */
export class TransactionalStore implements Store {
  readonly #engine: Engine;
  readonly #nextTicks: (reader: StateReader) => Ticks;
  readonly #views: OpenViews;
  readonly #watchers: Watchers;
  readonly #committer: Committer;
  #closing: Promise<void> | undefined;

  constructor(options: TransactionalStoreOptions) {
    const { engine, clock, log, meter, snapshotAgeMax = snapshotAgeMaxDefault } = options;
    this.#engine = engine;
    this.#nextTicks = storeTime(clock);
    this.#views = new OpenViews({ clock, snapshotAgeMax });
    this.#watchers = new Watchers(engine, clock, log);
    this.#committer = new Committer({
      engine,
      clock,
      owner: process.pid,
      nextTicks: this.#nextTicks,
      onCommitted: (commit) => {
        const { sequence, previous, conflicts } = commit;
        meter?.commit({ transactions: sequence - previous, conflicts });
        this.#watchers.committed(commit);
      },
    });
  }

  async transact<T>(
    work: (tx: Transaction) => Awaitable<T>,
    options: TransactOptions = {},
  ): Promise<T> {
    this.#checkOpen();
    const view = this.#views.track(this.#engine.open());
    const attempt = new Attempt(view, this.#nextTicks(view));
    let outcome = await runAttempt(work, attempt);
    view.close();
    if (!("error" in outcome) && !attempt.changes.isEmpty) {
      const attemptsMax = options.attemptsMax ?? attemptsMaxDefault;
      const first = outcome;
      outcome = await new Promise<Outcome>((settle) => {
        const count = { attemptsMax, attemptsUsed: 1, drops: 0, isStale: false };
        this.#committer.submit({ work, settle, attempt, outcome: first, ...count });
      });
    }
    if ("error" in outcome) throw outcome.error;
    return outcome.value as T;
  }

  async snapshot<T>(work: (view: View) => Awaitable<T>): Promise<T> {
    this.#checkOpen();
    const view = this.#views.track(this.#engine.open());
    try {
      return await work(snapshotView(view, this.#nextTicks(view)));
    } finally {
      view.close();
    }
  }

  watch(prefix: Key, onChange: () => void): Unwatch {
    this.#checkOpen();
    return this.#watchers.watch(prefix, onChange);
  }

  /** What was handed to the committer before is still committed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watchers.stop();
    await this.#committer.idle();
    this.#views.closeAll(new StoreClosed("the store was closed"));
    await this.#engine.close();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreClosed("the store was closed");
  }
}
