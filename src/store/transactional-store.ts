import { ticksPerSecond } from "../base/ticks.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Clock, Log } from "../base/world.ts";
import { Attempt } from "./attempt.ts";
import { Committer } from "./committer.ts";
import type { Awaitable, Engine, StateReader } from "./engine.ts";
import { OpenViews } from "./open-views.ts";
import { runAttempt } from "./queued-transaction.ts";
import type { WorkResult } from "./queued-transaction.ts";
import { SharedViews } from "./shared-views.ts";
import { snapshotView } from "./snapshot-view.ts";
import { StoreClosed } from "./store.ts";
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

interface Attempted {
  readonly attempt: Attempt;
  readonly outcome: WorkResult;
}

export const closedMessage = "the store was closed";

/** Of a transaction whose work runs in its turn. */
const notYetRun: WorkResult = { value: undefined };
export const nothingRead: StateReader = {
  sequence: 0,
  ticks: 0n,
  clockOffset: 0n,
  priorityOwner: 0,
  get: () => undefined,
  scan: () => [],
};

/** Optimistic transactions, snapshots and watching, on any engine. */
export class TransactionalStore implements Store {
  readonly #engine: Engine;
  readonly #nextTicks: (reader: StateReader) => Ticks;
  readonly #views: OpenViews;
  readonly #shared: SharedViews;
  readonly #watchers: Watchers;
  readonly #committer: Committer;
  #closing: Promise<void> | undefined;
  /** Nothing can be committed any more. */
  #isEnded = false;

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
    const { attemptsMax = attemptsMaxDefault } = options;
    const early = options.runInBatch === true ? undefined : await this.#attempt(work);
    let outcome = early?.outcome ?? notYetRun;
    if (!("error" in outcome) && early?.attempt.changes.isEmpty !== true) {
      // Its work went on while the store was being closed.
      if (this.#isEnded) throw new StoreClosed(closedMessage);
      const first = outcome;
      outcome = await new Promise<WorkResult>((settle) => {
        this.#committer.submit({
          work,
          settle,
          attempt: early?.attempt ?? new Attempt(nothingRead, 0n),
          outcome: first,
          attemptsMax,
          mayUseReserve: options.mayUseReserve,
          attemptsUsed: early === undefined ? 0 : 1,
          externalConflicts: 0,
          isStale: early === undefined,
        });
      });
    }
    if ("error" in outcome) throw outcome.error;
    return outcome.value as T;
  }

  async #attempt(work: (tx: Transaction) => Awaitable<unknown>): Promise<Attempted> {
    const view = await this.#shared.open();
    const attempt = new Attempt(view, this.#nextTicks(view));
    const run = runAttempt(work, attempt);
    const outcome = run instanceof Promise ? await run : run;
    view.close();
    return { attempt, outcome };
  }

  async snapshot<T>(work: (view: View) => Awaitable<T>): Promise<T> {
    this.#checkOpen();
    const view = await this.#shared.open();
    try {
      const done = work(snapshotView(view, this.#nextTicks(view)));
      return done instanceof Promise ? await done : done;
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
    this.#isEnded = true;
    this.#views.closeAll(new StoreClosed(closedMessage));
    await this.#engine.close();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreClosed(closedMessage);
  }
}
