import { ticksPerSecond } from "../base/ticks.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Clock, Log } from "../base/world.ts";
import { Attempt } from "./attempt.ts";
import type { CommitRole } from "./commit-role.ts";
import { newFollowerIdentity } from "./commit-sharing/follower-identity.ts";
import { SharedWriter } from "./commit-sharing/shared-writer.ts";
import { Committer } from "./committer.ts";
import type { Awaitable, Engine, StateReader } from "./engine.ts";
import type { KeyText } from "./key-text.ts";
import { OpenViews, SharedViews } from "./open-views.ts";
import { runAttempt } from "./queued-transaction.ts";
import type { WorkResult } from "./queued-transaction.ts";
import { plainRestore } from "./saved-states/restore-rules.ts";
import type { RestoreRules } from "./saved-states/restore-rules.ts";
import { SavedStates } from "./saved-states/saved-states.ts";
import { snapshotView } from "./snapshot-view.ts";
import { StoreClosed } from "./store.ts";
import type {
  Key,
  SnapshotOptions,
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
  /** Logs exceptions of watchers. */
  readonly log?: Log;
  readonly meter?: Pick<Meter, "commit"> | undefined;
  readonly snapshotAgeMax?: Ticks;
  /** Identifies this process among those that have the store open; not 0. Default: its id. */
  readonly owner?: number | undefined;
  /** Whether commits that change only such keys are not flushed. Default: all are. */
  readonly isVolatile?: ((text: KeyText) => boolean) | undefined;
  /** Default: a restore of a saved state restores every key. */
  readonly restoreRules?: RestoreRules | undefined;
}

export const attemptsMaxDefault = 64;
export const snapshotAgeMaxDefault = 60n * ticksPerSecond;

export const closedMessage = "the store was closed";

export const emptyState: StateReader = {
  sequence: 0,
  ticks: 0n,
  clockOffset: 0n,
  priorityOwner: 0,
  get: () => undefined,
  scan: () => [],
};

/** Attempt and result of a transaction whose work runs only inside the batch. */
const neverRun = new Attempt(emptyState, 0n);
const notYetRun: WorkResult = { value: undefined };

function valueOf(result: WorkResult): unknown {
  if ("error" in result) throw result.error;
  return result.value;
}

/** Optimistic transactions, snapshots and watchers on top of an engine. */
export class TransactionalStore implements Store {
  readonly savedStates: SavedStates;
  readonly #engine: Engine;
  readonly #nextTicks: (reader: StateReader) => Ticks;
  readonly #views: OpenViews;
  readonly #shared: SharedViews;
  readonly #watchers: Watchers;
  readonly #writer: SharedWriter;
  readonly #committer: Committer;
  #closing: Promise<void> | undefined;
  /** Whether the committer has stopped. */
  #isEnded = false;

  constructor(options: TransactionalStoreOptions) {
    const { engine, clock, log, meter, snapshotAgeMax = snapshotAgeMaxDefault } = options;
    this.#engine = engine;
    this.#nextTicks = storeTime(clock);
    this.#views = new OpenViews({ clock, snapshotAgeMax });
    this.#shared = new SharedViews(() => engine.open(), this.#views);
    this.#watchers = new Watchers({
      engine,
      clock,
      log,
      onWatchingChanged: () => this.#writer.watchingChanged(),
    });
    this.savedStates = new SavedStates({
      engine,
      rules: options.restoreRules ?? plainRestore,
      onCommitted: (commit) => this.#watchers.committed(commit),
    });
    const identity = newFollowerIdentity(options.owner);
    this.#writer = new SharedWriter({
      identity,
      engine,
      clock,
      log,
      isVolatile: options.isVolatile ?? (() => false),
      isWatching: () => this.#watchers.isWatching,
      onGroupCommit: (commit) => meter?.commit(commit),
      onCommitted: (commit) => this.#watchers.committed(commit),
      withUndo: this.savedStates.logged,
    });
    this.#committer = new Committer({
      engine,
      clock,
      owner: identity.owner,
      nextTicks: this.#nextTicks,
      writer: this.#writer,
    });
  }

  /** Sets which process commits the transactions; takes effect between two batches. */
  setCommitRole(role: CommitRole): Promise<void> {
    this.#checkOpen();
    return this.#writer.setRole(role);
  }

  async transact<T>(
    work: (tx: Transaction) => Awaitable<T>,
    options: TransactOptions = {},
  ): Promise<T> {
    this.#checkOpen();
    let attempt = neverRun;
    let result = notYetRun;
    const writesBefore = this.#committer.writes;
    if (options.runInBatch !== true) {
      const view = await this.#shared.open();
      attempt = new Attempt(view, this.#nextTicks(view));
      const run = runAttempt(work, attempt);
      result = run instanceof Promise ? await run : run;
      view.close();
      if ("error" in result || attempt.changes.isEmpty) return valueOf(result) as T;
      // The store was closed while the work ran.
      if (this.#isEnded) throw new StoreClosed(closedMessage);
    }
    const committed = await new Promise<WorkResult>((settle) => {
      this.#committer.submit({
        work,
        settle,
        attempt,
        result,
        attemptsMax: options.attemptsMax ?? attemptsMaxDefault,
        mayUseReserve: options.mayUseReserve,
        attemptsUsed: attempt === neverRun ? 0 : 1,
        externalConflicts: 0,
        isStale: attempt === neverRun,
        writesBefore,
      });
    });
    return valueOf(committed) as T;
  }

  async snapshot<T>(
    work: (view: View) => Awaitable<T>,
    { isUnlimited = false }: SnapshotOptions = {},
  ): Promise<T> {
    this.#checkOpen();
    const view = isUnlimited
      ? this.#views.trackUnlimited(this.#engine.open())
      : await this.#shared.open();
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

  /** Commits the queued transactions, then closes. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watchers.stop();
    await this.#shared.idle();
    await this.#committer.idle();
    this.#isEnded = true;
    await this.#writer.setRole({ kind: "alone" });
    this.#views.closeAll(new StoreClosed(closedMessage));
    await this.#engine.close();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreClosed(closedMessage);
  }
}
