import type { Meter } from "../../protocol/meter.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import { Attempt } from "../attempt.ts";
import { Committer, runAttempt, type WorkResult } from "../committer.ts";
import type { Awaitable } from "../../base/awaitable.ts";
import type { StateReader } from "../engine.ts";
import { OpenViews } from "../open-views.ts";
import { snapshotView } from "../layered-scan.ts";
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
import {
  attemptsMaxDefault,
  closedMessage,
  emptyState,
  snapshotAgeMaxDefault,
  storeTime,
} from "../transactional-store.ts";
import type { Connections } from "./connections.ts";
import type { Prefetcher } from "./prefetcher.ts";
import { keepActive } from "./state-pool.ts";
import { NodeWatchers } from "./node-watchers.ts";
import { DatabaseCommits } from "./database-commits.ts";
import type { StatePool } from "./state-pool.ts";
import { asUnavailable } from "./unavailable.ts";

interface PostgresStoreOptions {
  readonly connections: Connections;
  readonly states: StatePool;
  readonly prefetcher: Prefetcher;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: Pick<Meter, "commit"> | undefined;
  readonly node: string;
  /** Notification channel for commits. */
  readonly channel: string;
  /** The sequence when the store was opened. */
  readonly sequence: number;
  readonly snapshotAgeMax?: Ticks;
}

/** Time limit of a retry, longer than the timeout of database queries. */
const attemptMillisecondsMax = 20_000;

type Work = (tx: Transaction) => Awaitable<unknown>;

interface AttemptResult {
  readonly attempt: Attempt;
  readonly result: WorkResult;
}

/** A store in a database that any number of equal nodes share. */
export class PostgresStore implements Store {
  readonly #connections: Connections;
  readonly #states: StatePool;
  readonly #prefetcher: Prefetcher;
  readonly #clock: Clock;
  readonly #nextTicks: (reader: StateReader) => Ticks;
  readonly #views: OpenViews;
  readonly #watchers: NodeWatchers;
  readonly #committer: Committer;
  #closing: Promise<void> | undefined;
  readonly #node: string;
  #isFenced = false;
  /** Whether the committer has stopped. */
  #isEnded = false;

  constructor(options: PostgresStoreOptions) {
    const { connections, states, clock, snapshotAgeMax = snapshotAgeMaxDefault } = options;
    this.#connections = connections;
    this.#states = states;
    this.#node = options.node;
    this.#prefetcher = options.prefetcher;
    this.#clock = clock;
    this.#nextTicks = storeTime(clock);
    this.#views = new OpenViews({ clock, snapshotAgeMax });
    this.#watchers = new NodeWatchers({
      ...options,
      newListener: () => connections.newListener(),
      latestSequence: () => this.#latestSequence(),
    });
    this.#committer = new Committer({
      commits: new DatabaseCommits({
        ...options,
        pool: connections.writers,
        onFenced: () => this.#markFenced(options.log),
      }),
      clock,
      nextTicks: this.#nextTicks,
      attemptMillisecondsMax,
      onCommitted: (commit) => {
        options.meter?.commit(commit);
        this.#watchers.committed(commit);
      },
    });
  }

  async transact<T>(
    work: (tx: Transaction) => Awaitable<T>,
    options: TransactOptions = {},
  ): Promise<T> {
    this.#checkOpen();
    const { runInBatch = false, prefetch, attemptsMax = attemptsMaxDefault } = options;
    const { attempt, result: first } = runInBatch ? notYetRun() : await this.#run(work, options);
    let result = first;
    if (runInBatch || (!("error" in first) && !attempt.changes.isEmpty)) {
      // The store was closed while the work ran.
      if (this.#isEnded) throw new StoreClosed(closedMessage);
      result = await new Promise<WorkResult>((settle) => {
        const attempted = {
          attemptsMax,
          attemptsUsed: runInBatch ? 0 : 1,
          externalConflicts: 0,
          isStale: runInBatch,
        };
        const queued = { work, prefetch, settle, attempt, result: first, ...attempted };
        this.#committer.submit(queued);
      });
    }
    if ("error" in result) throw result.error;
    return result.value as T;
  }

  async snapshot<T>(
    work: (view: View) => Awaitable<T>,
    { prefetch, isUnlimited = false }: SnapshotOptions = {},
  ): Promise<T> {
    this.#checkOpen();
    const prefetched = prefetch && (await this.#prefetcher.open(prefetch));
    if (prefetched !== undefined) {
      const result = await captureResult(() =>
        work(snapshotView(prefetched, this.#nextTicks(prefetched))),
      );
      if (!prefetched.isIncomplete) return result();
    }
    const state = await this.#states.open();
    const view = isUnlimited ? this.#views.trackUnlimited(state) : this.#views.track(state);
    const endActivity = isUnlimited ? keepActive(state, this.#clock) : undefined;
    try {
      return await work(snapshotView(view, this.#nextTicks(view)));
    } finally {
      endActivity?.();
      view.close();
    }
  }

  async raiseSequence(to: number): Promise<void> {
    this.#checkOpen();
    const text = "UPDATE state SET sequence = GREATEST(sequence, $1) WHERE only_row = 1";
    try {
      await this.#connections.writers.query(text, [to]);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  watch(prefix: Key, onChange: () => void): Unwatch {
    this.#checkOpen();
    return this.#watchers.watch(prefix, onChange);
  }

  /** Bars a node from committing: from now on the database rejects its commits. */
  async fence(node: string): Promise<void> {
    try {
      await this.#connections.writers.query("SELECT give_up($1)", [node]);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  /** Commits the queued transactions, then closes. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #run(work: Work, options: TransactOptions): Promise<AttemptResult> {
    return (await this.#runPrefetched(work, options)) ?? (await this.#runOnState(work));
  }

  async #runPrefetched(
    work: Work,
    { prefetch }: TransactOptions,
  ): Promise<AttemptResult | undefined> {
    const state = prefetch && (await this.#prefetcher.open(prefetch));
    if (state === undefined) return undefined;
    const attempt = new Attempt(state, this.#nextTicks(state));
    const result = await runAttempt(work, attempt);
    return state.isIncomplete ? undefined : { attempt, result };
  }

  async #runOnState(work: Work): Promise<AttemptResult> {
    const view = this.#views.track(await this.#states.open());
    const attempt = new Attempt(view, this.#nextTicks(view));
    const result = await runAttempt(work, attempt);
    view.close();
    return { attempt, result };
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

  #markFenced(log: Log): void {
    if (!this.#isFenced) {
      const message = "this node was fenced and can no longer commit; restart it";
      log.error({ node: this.#node }, message);
    }
    this.#isFenced = true;
  }

  #checkOpen(): void {
    if (this.#isFenced) throw new StoreUnavailable(`node ${this.#node} was fenced: restart it`);
    if (this.#closing !== undefined) throw new StoreClosed(closedMessage);
  }
}

/** Placeholder for a transaction whose work runs only inside the batch. */
function notYetRun(): AttemptResult {
  return { attempt: new Attempt(emptyState, 0n), result: { value: undefined } };
}

/** Runs work to its end and returns a function that returns its value or throws its error. */
async function captureResult<T>(run: () => Awaitable<T>): Promise<() => T> {
  try {
    const value = await run();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
