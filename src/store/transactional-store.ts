import type { Span } from "../base/span.ts";
import { ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Clock, Log } from "../base/world.ts";
import { Committer, runAttempt, type WorkResult } from "./committer.ts";
import { EngineCommits } from "./engine-commits.ts";
import type { Awaitable } from "../base/awaitable.ts";
import type { Engine, StateReader, StateView } from "./engine.ts";
import { OpenViews, SharedViews } from "./open-views.ts";
import { Watchers } from "./watchers.ts";
import { plainRestore, SavedStates, type RestoreRules } from "./saved-states/saved-states.ts";
import { textOfKey } from "../encoding/keys.ts";
import {
  StoreClosed,
  type Key,
  type SnapshotOptions,
  type Store,
  type Transaction,
  type TransactOptions,
  type Unwatch,
  type View,
  type WatchOptions,
} from "./store.ts";
import { Attempt } from "./attempt.ts";
import { SnapshotView } from "./layered-scan.ts";

/** Transactions, snapshots and store time on top of an engine. `TransactionalStore` is the store on
 *  LMDB and in memory; `Transactions`, which runs the work of callers, is also a part of the store
 *  in PostgreSQL. `store.ts` describes the methods and options. */

/** Key of the id of the boot for which the stored offset from the monotonic clock is valid. */
const bootKey = new Uint8Array([0, 2]);

/** How far store time may differ from the wall clock before it is set anew: a day. */
const wallDifferenceMax = 86_400n * ticksPerSecond;

/** Store time is the monotonic clock plus an offset kept in the store. It is therefore common to
 *  all processes, and a jump of the wall clock does not change it, also across restarts: otherwise
 *  leases would end early. The first process after a boot sets the offset from the wall clock, but
 *  never before the latest committed time. So does a process that has the store for itself if the
 *  wall clock differs by more than a day: it was not set when the machine was booted. */
export async function setClockOffset(
  engine: Engine,
  clock: Clock,
  isExclusive: boolean,
): Promise<void> {
  const text = textOfKey(bootKey);
  await engine.commit((current) => {
    const boot = current.get(bootKey, text)?.value;
    const isThisBoot = boot !== undefined && new TextDecoder().decode(boot) === clock.bootId;
    const wall = clock.wall();
    const continued = clock.monotonic() + current.clockOffset;
    const difference = wall > continued ? wall - continued : continued - wall;
    // `continued` is too early after a server whose clock a test has moved ahead.
    const continues = difference <= wallDifferenceMax && continued >= current.ticks;
    if (isThisBoot && (!isExclusive || continues)) return undefined;
    const start = wall > current.ticks ? wall : current.ticks + 1n;
    const { sequence, ticks } = current;
    const value = new TextEncoder().encode(clock.bootId);
    const writes = [{ key: bootKey, text, value, revision: sequence }];
    return { sequence, ticks, clockOffset: start - clock.monotonic(), writes, mayUseReserve: true };
  });
}

/** Returns a function that gives each attempt its store time: later than every commit of the state
 *  it reads, and than all earlier results. */
export function storeTime(clock: Clock): (reader: StateReader) => Ticks {
  let last = 0n;
  return ({ ticks, clockOffset }) => {
    const measured = clock.monotonic() + clockOffset;
    const atLeast = (last > ticks ? last : ticks) + 1n;
    last = measured > atLeast ? measured : atLeast;
    return last;
  };
}

export interface TransactionalStoreOptions {
  readonly engine: Engine;
  /** Closes the engine and what belongs to it, as the claim of its folder. Default: the engine. */
  readonly closeEngine?: () => Promise<void>;
  /** Throws `StoreUnavailable` if the engine rejects commits. Default: this is not known. */
  readonly checkEngine?: () => void;
  readonly clock: Clock;
  /** Logs exceptions that watchers throw. */
  readonly log?: Log;
  readonly meter?: Pick<Meter, "commit"> | undefined;
  /** Maximum age of a view, 60 s by default: an older one would make a file of LMDB grow. */
  readonly snapshotAgeMax?: Ticks;
  /** Number of this process among those that have the store open, not 0. Default: process id. */
  readonly owner?: number | undefined;
  /** Which keys a restore of a saved state treats differently. Default: it restores all. */
  readonly restoreRules?: RestoreRules | undefined;
}

export const snapshotAgeMaxDefault = 60n * ticksPerSecond;

/** The store on a local engine (LMDB or memory), possibly shared with other processes. */
export class TransactionalStore implements Store {
  readonly savedStates: SavedStates;
  readonly #engine: Engine;
  readonly #closeEngine: () => Promise<void>;
  readonly #checkEngine: () => void;
  readonly #views: OpenViews;
  readonly #shared: SharedViews;
  readonly #watchers: Watchers;
  readonly #transactions: Transactions;
  #closing: Promise<void> | undefined;

  constructor(options: TransactionalStoreOptions) {
    const { clock, log, meter, snapshotAgeMax = snapshotAgeMaxDefault } = options;
    const engine = this.#watched(options.engine);
    this.#engine = engine;
    this.#closeEngine = options.closeEngine ?? (() => engine.close());
    this.#checkEngine = options.checkEngine ?? (() => {});
    const nextTicks = storeTime(clock);
    this.#views = new OpenViews({ clock, snapshotAgeMax });
    this.#shared = new SharedViews(() => engine.open(), this.#views, clock);
    this.#watchers = new Watchers({ engine, clock, log });
    this.savedStates = new SavedStates({
      engine,
      rules: options.restoreRules ?? plainRestore,
      onCommitted: (commit) => this.#watchers.committed(commit),
    });
    const { owner = process.pid } = options;
    const commits = new EngineCommits({ engine, clock, owner, withUndo: this.savedStates.logged });
    const committer = new Committer({
      commits,
      clock,
      nextTicks,
      onCommitted: (commit) => {
        meter?.commit(commit);
        this.#watchers.committed(commit);
      },
    });
    this.#transactions = new Transactions({
      committer,
      nextTicks,
      checkOpen: () => this.#checkOpen(),
      open: () => this.#shared.open(),
      openUnlimited: () => this.#views.trackUnlimited(engine.open()),
      writes: () => commits.writes,
    });
  }

  transact<T>(work: (tx: Transaction) => Awaitable<T>, options?: TransactOptions): Promise<T> {
    return this.#transactions.transact(work, options);
  }

  snapshot<T>(work: (view: View) => Awaitable<T>, options?: SnapshotOptions): Promise<T> {
    return this.#transactions.snapshot(work, options);
  }

  raiseSequence(to: number): Promise<void> {
    this.#checkOpen();
    return this.#engine.commit(({ sequence, ticks }) =>
      sequence >= to ? undefined : { sequence: to, ticks, writes: [] },
    );
  }

  watch(prefix: Key, onChange: () => void, options?: WatchOptions): Unwatch {
    this.#checkOpen();
    return this.#watchers.watch(prefix, onChange, options);
  }

  checkWritable(): void {
    this.#checkEngine();
  }

  /** Commits the queued transactions, then closes views and engine. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Wraps the engine so that watchers (callbacks for changed keys) see the state before each
   *  commit, which shows commits of other processes. */
  #watched(engine: Engine): Engine {
    return {
      open: () => engine.open(),
      commit: (decide, writesExpected) =>
        engine.commit((current) => {
          this.#watchers.saw(current);
          return decide(current);
        }, writesExpected),
      close: () => engine.close(),
    };
  }

  async #close(): Promise<void> {
    this.#watchers.stop();
    await this.#shared.idle();
    await this.#transactions.end();
    this.#views.closeAll(new StoreClosed(closedMessage));
    await this.#closeEngine();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StoreClosed(closedMessage);
  }
}

/** So many conflicts in a row mean a bug or a key that is too busy: the client gets 503. */
const attemptsMaxDefault = 64;

/** Message of `StoreClosed`, which every method of a closed store throws. */
export const closedMessage = "the store was closed";

/** The state of a store without commits, for an attempt that has not run yet. */
export const emptyState: StateReader = {
  sequence: 0,
  ticks: 0n,
  clockOffset: 0n,
  priorityOwner: 0,
  get: () => undefined,
  scan: () => [],
};

/** A state that contains only the predicted reads of one transaction or snapshot. */
interface PrefetchedReader extends StateReader {
  /** Whether the work asked for something else; its result must not be used. */
  readonly isIncomplete: boolean;
}

interface TransactionsOptions {
  readonly committer: Committer;
  readonly nextTicks: (reader: StateReader) => Ticks;
  /** Throws if the store was closed, or its node was fenced. Called before each transaction. */
  readonly checkOpen: () => void;
  /** Opens the latest state for an attempt or a snapshot; the caller closes it. */
  readonly open: () => Awaitable<StateView>;
  /** Like `open`, for a view that does not expire, as an export needs it. */
  readonly openUnlimited: () => Awaitable<StateView>;
  /** Fetches what work will probably read in one round trip; resolves to undefined if that cannot
   *  be predicted. Absent for local engines, whose reads are fast. */
  readonly openPrefetched?: (
    prefetch: NonNullable<SnapshotOptions["prefetch"]>,
    span: Span | undefined,
  ) => Promise<PrefetchedReader | undefined>;
  /** The number of commits so far, with which `EngineCommits` avoids views; absent for a
   *  database. */
  readonly writes?: () => number;
}

type Work = (tx: Transaction) => Awaitable<unknown>;

/** The first attempt of a transaction, before it is queued, and the result of its work. */
interface Run {
  readonly attempt: Attempt;
  readonly result: WorkResult;
}

/** Runs the work of transactions and snapshots. Transactions are optimistic: the work runs without
 *  locks, and is validated when its batch commits. Stores differ in how they open a state and in
 *  what commits a batch of transactions. */
export class Transactions {
  readonly #options: TransactionsOptions;
  /** In place of the first attempt if the work runs only inside the commit batch (`runInBatch`). */
  readonly #notRun: Run = { attempt: new Attempt(emptyState, 0n), result: { value: undefined } };
  /** Whether `end` was called: then nothing is queued any more. */
  #isEnded = false;

  constructor(options: TransactionsOptions) {
    this.#options = options;
  }

  async transact<T>(
    work: (tx: Transaction) => Awaitable<T>,
    { runInBatch = false, prefetch, attemptsMax, mayUseReserve, span }: TransactOptions = {},
  ): Promise<T> {
    const { committer, open, openPrefetched, nextTicks, writes, checkOpen } = this.#options;
    checkOpen();
    const writesBefore = writes?.() ?? 0;
    let { attempt, result } = this.#notRun;
    if (!runInBatch) {
      const prefetched =
        openPrefetched === undefined || prefetch === undefined
          ? undefined
          : await this.#runPrefetched(work, await openPrefetched(prefetch, span));
      if (prefetched === undefined) {
        const view = await open();
        attempt = new Attempt(view, nextTicks(view));
        const run = runAttempt(work, attempt);
        result = run instanceof Promise ? await run : run;
        view.close();
      } else {
        ({ attempt, result } = prefetched);
      }
      if ("error" in result || attempt.changes.isEmpty) return valueOf(result) as T;
      // The store may have been closed while the work ran: its engine must not be used any more.
      if (this.#isEnded) throw new StoreClosed(closedMessage);
    }
    const committed = await new Promise<WorkResult>((settle) => {
      committer.submit({
        work,
        settle,
        attempt,
        result,
        attemptsMax: attemptsMax ?? attemptsMaxDefault,
        prefetch,
        mayUseReserve,
        span,
        attemptsUsed: runInBatch ? 0 : 1,
        externalConflicts: 0,
        isStale: runInBatch,
        writesBefore,
      });
    });
    return valueOf(committed) as T;
  }

  async snapshot<T>(
    work: (view: View) => Awaitable<T>,
    { prefetch, isUnlimited = false, span }: SnapshotOptions = {},
  ): Promise<T> {
    const { open, openUnlimited, openPrefetched, nextTicks, checkOpen } = this.#options;
    checkOpen();
    if (openPrefetched !== undefined && prefetch !== undefined) {
      const state = await openPrefetched(prefetch, span);
      const result =
        state && (await captured(() => work(new SnapshotView(state, nextTicks(state)))));
      if (result !== undefined && state?.isIncomplete === false) return valueOf(result) as T;
    }
    const view = await (isUnlimited ? openUnlimited() : open());
    try {
      const now = (view.snapshotTime ??= nextTicks(view));
      const done = work(new SnapshotView(view, now));
      return done instanceof Promise ? await done : done;
    } finally {
      view.close();
    }
  }

  /** Called when the store closes: waits for the queued transactions; later ones fail. */
  async end(): Promise<void> {
    await this.#options.committer.idle();
    this.#isEnded = true;
  }

  async #runPrefetched(work: Work, state: PrefetchedReader | undefined): Promise<Run | undefined> {
    if (state === undefined) return undefined;
    const attempt = new Attempt(state, this.#options.nextTicks(state));
    const result = await runAttempt(work, attempt);
    return state.isIncomplete ? undefined : { attempt, result };
  }
}

function valueOf(result: WorkResult): unknown {
  if ("error" in result) throw result.error;
  return result.value;
}

async function captured(run: () => Awaitable<unknown>): Promise<WorkResult> {
  try {
    return { value: await run() };
  } catch (error) {
    return { error };
  }
}
