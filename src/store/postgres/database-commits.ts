import type { Pool, PoolClient, QueryConfig } from "pg";

import type { Clock } from "../../base/world.ts";
import { cachingReader } from "../caching-reader.ts";
import {
  beginSpans,
  type BatchCommits,
  type BatchResult,
  type BatchState,
  type PendingBatch,
  type QueuedTransaction,
} from "../committer.ts";
import type { StateReader, StateView, ValueCodec } from "../engine.ts";
import { batchQuery, type BatchRow } from "./batch.ts";
import { PrefetchedState, type PrefetchResult } from "./prefetched-state.ts";
import type { Prefetcher } from "./prefetcher.ts";
import type { StatePool } from "./state-pool.ts";
import { asUnavailable, isFenced, isTransient } from "./unavailable.ts";
import { ticksPerSecond } from "../../base/ticks.ts";

/** Commits batches of transactions to the database, for the `Committer` of `PostgresStore`: one
 *  round trip for each batch, and the same batch again if its response was lost. */

interface DatabaseCommitsOptions {
  readonly pool: Pool;
  readonly states: StatePool;
  readonly prefetcher: Prefetcher;
  readonly clock: Clock;
  /** Unique id of this opening of the store; never reused. */
  readonly node: string;
  /** Encrypts the values; undefined: they are stored as they are. */
  readonly values?: ValueCodec | undefined;
  /** Called when another node has fenced this one, because it took it for ended: no commit of this
   *  node will succeed any more. */
  readonly onFenced: () => void;
}

/** Attributes of a call of the database in a trace. */
export const postgresCall = { "db.system.name": "postgresql" };
/** After this many conflicts with other nodes a transaction is retried under the commit lock, where
 *  it cannot conflict again: otherwise a busy key could starve it. */
const conflictsBeforeLock = 4;

/** Commits batches in a database, in one round trip each: its function `commit_batch` validates and
 *  writes a batch, and returns the transactions that conflict with commits of other nodes.
 *  Transactions are not compared with the latest state before, because reading it would cost a
 *  round trip, unlike with a local engine. */
export class DatabaseCommits implements BatchCommits {
  readonly #options: DatabaseCommitsOptions;
  #number = 0;

  constructor(options: DatabaseCommitsOptions) {
    this.#options = options;
  }

  async commit(batch: PendingBatch): Promise<BatchResult> {
    const needsLock = batch.transactions.some(
      ({ externalConflicts }) => externalConflicts >= conflictsBeforeLock,
    );
    try {
      return await (needsLock ? this.#commitUnderLock(batch) : this.#send(batch));
    } catch (error) {
      if (isFenced(error)) this.#options.onFenced();
      throw asUnavailable(error);
    }
  }

  async #send(batch: PendingBatch): Promise<BatchResult> {
    const { states, prefetcher } = this.#options;
    let view: Promise<StateView> | undefined;
    const open = (): Promise<StateView> => (view ??= states.open());
    try {
      const accepted = await batch.accept(new RetryState({ batch, prefetcher, open }));
      return await this.#write(accepted, undefined);
    } finally {
      (await view)?.close();
    }
  }

  async #commitUnderLock(batch: PendingBatch): Promise<BatchResult> {
    const { pool, states, prefetcher } = this.#options;
    const client = await pool.connect();
    let isDone = false;
    try {
      const state = await states.lock(client);
      for (const queued of batch.transactions) queued.isStale = true;
      const open = (): Promise<StateView> => Promise.resolve(state.view());
      const accepted = await batch.accept(new RetryState({ batch, prefetcher, open }));
      await state.idle();
      const result = await this.#write(accepted, client);
      isDone = accepted.length > 0;
      return result;
    } finally {
      // Closing a connection that may still hold the lock releases it.
      client.release(!isDone);
    }
  }

  async #write(
    accepted: readonly QueuedTransaction[],
    locked: PoolClient | undefined,
  ): Promise<BatchResult> {
    if (accepted.length === 0) return { kind: "committed", dropped: new Set(), commit: undefined };
    const { pool, clock, node, values } = this.#options;
    const attempts = accepted.map(({ attempt }) => attempt);
    this.#number += 1;
    const query = batchQuery(attempts, { node, number: this.#number }, values);
    const endSpans = beginSpans(accepted, "postgresql commit_batch", postgresCall);
    const sent = sendBatch({ pool, clock, locked }, query);
    if (endSpans !== undefined) sent.then(() => endSpans(), endSpans);
    const { previous, conflicts } = await sent;
    const dropped = new Set(accepted.filter((_, index) => conflicts.has(index + 1)));
    const committed = accepted.filter((each) => !dropped.has(each));
    const writes = committed.flatMap(({ attempt }) => attempt.changes.all());
    const sequence = previous + accepted.length;
    const commit = writes.length === 0 ? undefined : { previous, sequence, writes };
    return { kind: "committed", dropped, commit };
  }
}

interface RetryStateOptions {
  readonly batch: PendingBatch;
  readonly prefetcher: Prefetcher;
  readonly open: () => Promise<StateView>;
}

/** The state that the retries of a batch read. The keys that its transactions will probably read
 *  are fetched in one statement; other reads go to a full state. */
class RetryState implements BatchState {
  readonly #options: RetryStateOptions;
  #prefetched: Promise<PrefetchResult | undefined> | undefined;
  #full: Promise<StateReader> | undefined;

  constructor(options: RetryStateOptions) {
    this.#options = options;
  }

  isStale(): boolean {
    return false;
  }

  async readerFor({ prefetch }: QueuedTransaction): Promise<StateReader> {
    if (prefetch === undefined) return this.fullReader();
    this.#prefetched ??= this.#prefetch();
    const prefetched = await this.#prefetched;
    return prefetched === undefined ? this.fullReader() : new PrefetchedState(prefetched);
  }

  fullReader(): Promise<StateReader> {
    this.#full ??= this.#options.open().then(cachingReader);
    return this.#full;
  }

  #prefetch(): Promise<PrefetchResult | undefined> {
    const { batch, prefetcher } = this.#options;
    const works = batch.transactions.map(({ prefetch }) => prefetch);
    return prefetcher.openForAll(works.filter((each) => each !== undefined));
  }
}

interface SentBatch {
  /** Sequence of the store before the batch; its transactions get the numbers after it. */
  readonly previous: number;
  /** Numbers, from 1, of the transactions that conflict with commits of other nodes. */
  readonly conflicts: ReadonlySet<number>;
}

/** Pauses before a batch is sent again double between these limits. */
const pauseMillisecondsFirst = 20;
const pauseMillisecondsMax = 1_000;
/** How long a batch is sent again before its transactions fail: enough for a failover. */
const sendTicksMax = 15n * ticksPerSecond;

/** Sends a batch until there is a response. After a broken connection it is unknown whether the
 *  batch was committed. The database stores the number of each node's last batch, so sending it
 *  again either commits it or returns the lost response. */
async function sendBatch(
  { pool, clock, locked }: { pool: Pool; clock: Clock; locked?: PoolClient | undefined },
  query: QueryConfig,
): Promise<SentBatch> {
  const endsAt = clock.monotonic() + sendTicksMax;
  let pause = pauseMillisecondsFirst;
  let underLock = locked;
  for (;;) {
    try {
      return await sendOnce(underLock, pool, query);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (clock.monotonic() >= endsAt) throw asUnavailable(error);
      await new Promise<void>((resolve) => clock.after(pause, resolve));
      pause = Math.min(2 * pause, pauseMillisecondsMax);
      underLock = undefined;
    }
  }
}

async function sendOnce(
  locked: PoolClient | undefined,
  pool: Pool,
  query: QueryConfig,
): Promise<SentBatch> {
  const { rows } = await (locked ?? pool).query<BatchRow>(query);
  if (locked !== undefined) await locked.query("COMMIT");
  const [row] = rows;
  if (row === undefined) throw new Error("commit_batch returned no row");
  return { previous: Number(row.sequence_before), conflicts: new Set(row.lost.map(Number)) };
}
