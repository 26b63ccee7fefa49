import type { Meter } from "../../protocol/meter.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import { Attempt } from "../attempt.ts";
import type { Awaitable, StateReader } from "../engine.ts";
import { OpenViews } from "../open-views.ts";
import { runAttempt } from "../queued-transaction.ts";
import type { WorkResult } from "../queued-transaction.ts";
import { snapshotView } from "../snapshot-view.ts";
import { StoreClosed, StoreUnavailable } from "../store.ts";
import type {
  Key,
  SnapshotOptions,
  Store,
  TransactOptions,
  Transaction,
  Unwatch,
  View,
} from "../store.ts";
import { storeTime } from "../time.ts";
import {
  attemptsMaxDefault,
  closedMessage,
  nothingRead,
  snapshotAgeMaxDefault,
} from "../transactional-store.ts";
import type { Connections } from "./connections.ts";
import type { Prefetcher } from "./prefetcher.ts";
import { NodeWatchers } from "./node-watchers.ts";
import { PostgresCommitter } from "./postgres-committer.ts";
import type { StatePool } from "./state-pool.ts";
import { asUnavailable } from "./unavailable.ts";

export interface PostgresStoreOptions {
  readonly connections: Connections;
  readonly states: StatePool;
  readonly foreseen: Prefetcher;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: Pick<Meter, "commit"> | undefined;
  readonly node: string;
  /** Where commits are told of. */
  readonly channel: string;
  /** The sequence when the store was opened. */
  readonly sequence: number;
  readonly snapshotAgeMax?: Ticks;
}

type Work = (tx: Transaction) => Awaitable<unknown>;

interface Run {
  readonly attempt: Attempt;
  readonly outcome: WorkResult;
}

/** The key space in a database that any number of nodes share; no node is special. */
export class PostgresStore implements Store {
  readonly #connections: Connections;
  readonly #states: StatePool;
  readonly #foreseen: Prefetcher;
  readonly #nextTicks: (reader: StateReader) => Ticks;
  readonly #views: OpenViews;
  readonly #watchers: NodeWatchers;
  readonly #committer: PostgresCommitter;
  #closing: Promise<void> | undefined;
  #isGivenUp = false;
  /** Nothing can be committed any more. */
  #isEnded = false;

  constructor(options: PostgresStoreOptions) {
    const { connections, states, clock, snapshotAgeMax = snapshotAgeMaxDefault } = options;
    this.#connections = connections;
    this.#states = states;
    this.#foreseen = options.foreseen;
    this.#nextTicks = storeTime(clock);
    this.#views = new OpenViews({ clock, snapshotAgeMax });
    this.#watchers = new NodeWatchers({
      ...options,
      newListener: () => connections.newListener(),
      latestSequence: () => this.#latestSequence(),
    });
    this.#committer = new PostgresCommitter({
      ...options,
      pool: connections.writers,
      nextTicks: this.#nextTicks,
      onCommitted: (commit) => {
        const { sequence, previous, conflicts } = commit;
        options.meter?.commit({ transactions: sequence - previous, conflicts });
        this.#watchers.committed(commit);
      },
      onFenced: () => this.#giveUpSelf(options.log),
    });
  }

  async transact<T>(
    work: (tx: Transaction) => Awaitable<T>,
    options: TransactOptions = {},
  ): Promise<T> {
    this.#checkOpen();
    const { runInBatch = false, prefetch, attemptsMax = attemptsMaxDefault } = options;
    const { attempt, outcome: first } = runInBatch ? notYetRun() : await this.#run(work, options);
    let outcome = first;
    if (runInBatch || (!("error" in first) && !attempt.changes.isEmpty)) {
      // Its work went on while the store was being closed.
      if (this.#isEnded) throw new StoreClosed(closedMessage);
      outcome = await new Promise<WorkResult>((settle) => {
        const attempted = {
          attemptsMax,
          attemptsUsed: runInBatch ? 0 : 1,
          externalConflicts: 0,
          isStale: runInBatch,
        };
        const pending = { work, prefetch, settle, attempt, outcome: first, ...attempted };
        this.#committer.submit(pending);
      });
    }
    if ("error" in outcome) throw outcome.error;
    return outcome.value as T;
  }

  async snapshot<T>(
    work: (view: View) => Awaitable<T>,
    { prefetch }: SnapshotOptions = {},
  ): Promise<T> {
    this.#checkOpen();
    const foreseen = prefetch && (await this.#foreseen.open(prefetch));
    if (foreseen !== undefined) {
      const looked = await settled(() => work(snapshotView(foreseen, this.#nextTicks(foreseen))));
      if (!foreseen.isShort) return looked();
    }
    const view = this.#views.track(await this.#states.open());
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

  /** From now on no commit of that node takes effect, wherever it is and whatever it thinks. */
  async giveUp(node: string): Promise<void> {
    try {
      await this.#connections.writers.query("SELECT give_up($1)", [node]);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  /** What was handed to the committer before is still committed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #run(work: Work, options: TransactOptions): Promise<Run> {
    return (await this.#runForeseen(work, options)) ?? (await this.#runOnState(work));
  }

  async #runForeseen(work: Work, { prefetch }: TransactOptions): Promise<Run | undefined> {
    const state = prefetch && (await this.#foreseen.open(prefetch));
    if (state === undefined) return undefined;
    const attempt = new Attempt(state, this.#nextTicks(state));
    const outcome = await runAttempt(work, attempt);
    return state.isShort ? undefined : { attempt, outcome };
  }

  async #runOnState(work: Work): Promise<Run> {
    const view = this.#views.track(await this.#states.open());
    const attempt = new Attempt(view, this.#nextTicks(view));
    const outcome = await runAttempt(work, attempt);
    view.close();
    return { attempt, outcome };
  }

  async #close(): Promise<void> {
    await this.#watchers.stop();
    await this.#committer.idle();
    this.#isEnded = true;
    this.#views.closeAll(new StoreClosed(closedMessage));
    await this.#connections.close();
  }

  async #latestSequence(): Promise<number> {
    const view = await this.#states.open();
    view.close();
    return view.sequence;
  }

  #giveUpSelf(log: Log): void {
    if (!this.#isGivenUp) log.error({}, "the other nodes have given this one up: restart it");
    this.#isGivenUp = true;
  }

  #checkOpen(): void {
    if (this.#isGivenUp) throw new StoreUnavailable("the other nodes have given this one up");
    if (this.#closing !== undefined) throw new StoreClosed(closedMessage);
  }
}

/** Of a transaction whose work runs when its turn comes. */
function notYetRun(): Run {
  return { attempt: new Attempt(nothingRead, 0n), outcome: { value: undefined } };
}

/** Waits for what comes of it, good or bad, and gives that when asked. */
async function settled<T>(run: () => Awaitable<T>): Promise<() => T> {
  try {
    const value = await run();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
