import { inSpan } from "../../base/span.ts";
import type { Clock, Log } from "../../base/world.ts";
import { Committer } from "../committer.ts";
import type { Awaitable } from "../../base/awaitable.ts";
import type { StateView, ValueCodec } from "../engine.ts";
import { OpenViews } from "../open-views.ts";
import { NodeFenced, StoreClosed } from "../store.ts";
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
  Transactions,
  closedMessage,
  snapshotAgeMaxDefault,
  storeTime,
  type TransactionalStoreOptions,
} from "../transactional-store.ts";
import type { Connections } from "./connections.ts";
import type { Prefetcher } from "./prefetcher.ts";
import { keepActive, type StatePool } from "./state-pool.ts";
import { NodeWatchers } from "./node-watchers.ts";
import { DatabaseCommits, postgresCall } from "./database-commits.ts";
import { TimeKeeper } from "./time-keeper.ts";
import type { DatabaseTime } from "./database-time.ts";
import { asUnavailable } from "./unavailable.ts";

/** The store in a database that any number of equal server nodes share. Transactions, the commit
 *  queue and views are the same as on one machine (`store/transactional-store.ts`,
 *  `store/committer.ts`); states, commits and watchers are those of the database. */

/** Options of a server node's store that both `openPostgresStore` and `PostgresStore` need. */
export interface NodeOptions extends Pick<
  TransactionalStoreOptions,
  "clock" | "meter" | "snapshotAgeMax"
> {
  readonly log: Log;
  /** Unique id of this opening of the store; never reused. */
  readonly node: string;
  /** Encrypts the values; undefined: they are stored as they are. */
  readonly values?: ValueCodec | undefined;
}

interface PostgresStoreOptions extends NodeOptions {
  readonly connections: Connections;
  readonly states: StatePool;
  readonly prefetcher: Prefetcher;
  readonly time: DatabaseTime;
  /** PostgreSQL channel (NOTIFY) on which nodes learn of each other's commits. */
  readonly channel: string;
  /** The sequence (number of the last commit) when the store was opened. */
  readonly sequence: number;
}

/** Time limit of a retry inside a commit batch. Longer than the 15 s after which a query of the
 *  database fails, which is the better error. */
const attemptMillisecondsMax = 20_000;

export class PostgresStore implements Store {
  readonly #connections: Connections;
  readonly #states: StatePool;
  readonly #views: OpenViews;
  readonly #watchers: NodeWatchers;
  readonly #transactions: Transactions;
  readonly #timeKeeper: TimeKeeper;
  #closing: Promise<void> | undefined;
  readonly #node: string;
  readonly #log: Log;
  #isFenced = false;

  constructor(options: PostgresStoreOptions) {
    const { connections, states, clock, snapshotAgeMax = snapshotAgeMaxDefault } = options;
    this.#connections = connections;
    this.#states = states;
    this.#node = options.node;
    this.#log = options.log;
    this.#timeKeeper = new TimeKeeper({ ...options, pool: connections.writers });
    const nextTicks = storeTime(clock);
    this.#views = new OpenViews({ clock, snapshotAgeMax });
    this.#watchers = new NodeWatchers({
      ...options,
      newListener: () => connections.newListener(),
      latestSequence: () => this.#latestSequence(),
    });
    const committer = new Committer({
      commits: new DatabaseCommits({
        ...options,
        pool: connections.writers,
        onFenced: () => this.#markFenced(),
      }),
      clock,
      nextTicks,
      attemptMillisecondsMax,
      onCommitted: (commit) => {
        options.meter?.commit(commit);
        this.#watchers.committed(commit);
      },
    });
    this.#transactions = new Transactions({
      committer,
      nextTicks,
      checkOpen: () => this.#checkOpen(),
      open: async () => this.#views.track(await states.open()),
      openUnlimited: async () => this.#openUnlimited(clock),
      openPrefetched: (prefetch, span) => {
        const opened = options.prefetcher.open(prefetch);
        const part = span?.begin("postgresql prefetch", postgresCall);
        return part === undefined ? opened : inSpan(part, () => opened);
      },
    });
  }

  transact<T>(work: (tx: Transaction) => Awaitable<T>, options?: TransactOptions): Promise<T> {
    return this.#transactions.transact(work, options);
  }

  snapshot<T>(work: (view: View) => Awaitable<T>, options?: SnapshotOptions): Promise<T> {
    return this.#transactions.snapshot(work, options);
  }

  /** From now on this node corrects jumps of the database's clock (`TimeKeeper`), so that the time
   *  of the store stays steady. Called once, before its first commit. `isAlone`: no other node
   *  runs, so that the database's clock is taken as it is. */
  async keepTime(isAlone: boolean): Promise<void> {
    try {
      await this.#timeKeeper.start(isAlone);
    } catch (error) {
      throw asUnavailable(error);
    }
    this.#watchers.poll();
  }

  /** Makes later commits have sequences above `to`: `etagere copy` calls it for its target. */
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

  /** Bars a node from committing: from now on the database rejects its commits, so that what it
   *  left can be removed safely. */
  async fence(node: string): Promise<void> {
    try {
      await this.#connections.writers.query("SELECT give_up($1)", [node]);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  /** Throws `NodeFenced` if another node has fenced this one, `StoreUnavailable` if the database is
   *  unreachable. Otherwise a node learns it only when it commits. */
  async assertNotFenced(): Promise<void> {
    this.#checkOpen();
    try {
      const text = "SELECT FROM given_up WHERE node = $1";
      const { rowCount } = await this.#connections.writers.query(text, [this.#node]);
      if (rowCount !== 0) this.#markFenced();
    } catch (error) {
      throw asUnavailable(error);
    }
    this.#checkOpen();
  }

  /** Commits the queued transactions, then closes views and connections. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Opens a state for an export. The database ends transactions that are idle for 90 s, so a
   *  statement is sent every 30 s. */
  async #openUnlimited(clock: Clock): Promise<StateView> {
    const state = await this.#states.open();
    const endActivity = keepActive(state, clock);
    const close = (): void => {
      endActivity();
      state.close();
    };
    return this.#views.trackUnlimited({ ...state, close });
  }

  async #close(): Promise<void> {
    await this.#watchers.stop();
    await this.#transactions.end();
    this.#views.closeAll(new StoreClosed(closedMessage));
    await this.#connections.close();
  }

  async #latestSequence(): Promise<number> {
    const view = await this.#states.open();
    view.close();
    return view.sequence;
  }

  #markFenced(): void {
    if (!this.#isFenced) {
      const message = "this node was fenced and can no longer commit; restart it";
      this.#log.error({ node: this.#node }, message);
    }
    this.#isFenced = true;
  }

  #checkOpen(): void {
    if (this.#isFenced) throw new NodeFenced(`node ${this.#node} was fenced: restart it`);
    if (this.#closing !== undefined) throw new StoreClosed(closedMessage);
  }
}
