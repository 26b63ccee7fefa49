import { ticksPerSecond } from "../core/ticks.ts";
import type { Ticks } from "../core/ticks.ts";
import type { Meter } from "../core/meter.ts";
import type { Clock, Log } from "../core/world.ts";
import { Attempt } from "./attempt.ts";
import { Committer } from "./committer.ts";
import type { Awaitable, Engine, StateReader } from "./engine.ts";
import type { KeyText } from "./key-text.ts";
import { OpenViews } from "./open-views.ts";
import { runAttempt } from "./pending.ts";
import type { Outcome } from "./pending.ts";
import { SharedViews } from "./shared-views.ts";
import { snapshotView } from "./snapshot-view.ts";
import type {
  Key,
  ReadOptions,
  Store,
  TransactOptions,
  Transaction,
  Unwatch,
  View,
} from "./store.ts";
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

interface Looked<T> {
  readonly value: T;
  readonly contest: Promise<void> | undefined;
}

interface Attempted {
  readonly attempt: Attempt;
  readonly outcome: Outcome;
}

/** Of a transaction whose work runs in its turn. */
const notYetRun: Outcome = { value: undefined };
export const nothingRead: StateReader = {
  sequence: 0,
  ticks: 0n,
  epoch: 0n,
  turn: 0,
  get: () => undefined,
  scan: () => [],
};

/** The store was closed, by this process. */
export class StoreClosed extends Error {
  override readonly name = "StoreClosed";
}

/** Optimistic transactions, snapshots and watching, on any engine. */
export class TransactionalStore implements Store {
  readonly #engine: Engine;
  readonly #nextTicks: (reader: StateReader) => Ticks;
  readonly #views: OpenViews;
  readonly #shared: SharedViews;
  readonly #watchers: Watchers;
  readonly #committer: Committer;
  #closing: Promise<void> | undefined;

  constructor(options: TransactionalStoreOptions) {
    const { engine, clock, log, meter, snapshotAgeMax = snapshotAgeMaxDefault } = options;
    this.#engine = engine;
    this.#nextTicks = storeTime(clock);
    this.#views = new OpenViews({ clock, snapshotAgeMax });
    this.#shared = new SharedViews(() => engine.open(), this.#views);
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
    const { attemptsMax = attemptsMaxDefault, precedence = 0, isConditional = false } = options;
    const early = options.inTurn === true ? undefined : await this.#attempt(work);
    let outcome = early?.outcome ?? notYetRun;
    if (!("error" in outcome) && early?.attempt.changes.isEmpty !== true) {
      const first = outcome;
      outcome = await new Promise<Outcome>((settle) => {
        this.#committer.submit({
          work,
          settle,
          attempt: early?.attempt ?? new Attempt(nothingRead, 0n),
          outcome: first,
          attemptsMax,
          precedence,
          isConditional,
          attemptsUsed: early === undefined ? 0 : 1,
          drops: 0,
          isStale: early === undefined,
        });
      });
    }
    if ("error" in outcome) throw outcome.error;
    return outcome.value as T;
  }

  async #attempt(work: (tx: Transaction) => Awaitable<unknown>): Promise<Attempted> {
    const view = await this.#shared.openToWrite();
    const attempt = new Attempt(view, this.#nextTicks(view));
    const run = runAttempt(work, attempt);
    const outcome = run instanceof Promise ? await run : run;
    view.close();
    return { attempt, outcome };
  }

  async snapshot<T>(
    work: (view: View) => Awaitable<T>,
    { discard }: ReadOptions<T> = {},
  ): Promise<T> {
    this.#checkOpen();
    const first = await this.#look(work, discard !== undefined);
    if (first.contest === undefined) return first.value;
    discard?.(first.value);
    await first.contest;
    return (await this.#look(work, false)).value;
  }

  /** Tells whether a key that the work has read is being changed, if it is to look out for that. */
  async #look<T>(work: (view: View) => Awaitable<T>, looksOut: boolean): Promise<Looked<T>> {
    const view = await this.#shared.openToRead();
    const { contests } = this.#committer;
    const isWatched = looksOut && !contests.isEmpty;
    let contest: Promise<void> | undefined;
    const seen = isWatched ? (text: KeyText) => (contest ??= contests.over(text)) : undefined;
    try {
      const done = work(snapshotView(view, this.#nextTicks(view), seen));
      return { value: done instanceof Promise ? await done : done, contest };
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
    await this.#shared.idle();
    await this.#committer.idle();
    this.#views.closeAll(new StoreClosed("the store was closed"));
    await this.#engine.close();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreClosed("the store was closed");
  }
}
