import { ensure } from "../protocol/result.ts";
import type { Clock } from "../base/world.ts";
import type { Attempt } from "./attempt.ts";
import { writesOf } from "./write-set.ts";
import { cachingReader } from "./caching-reader.ts";
import {
  latestTicks,
  type BatchCommits,
  type BatchResult,
  type BatchState,
  type Committed,
  type PendingBatch,
  type QueuedTransaction,
} from "./committer.ts";
import type { Engine, EngineBatch, EngineReader, EngineView } from "./engine.ts";

/** Commits batches to an engine on this machine: `TransactionalStore` passes it to its `Committer`.
 *  Several processes may have the engine open, so each batch is validated once more under the write
 *  lock. */

interface EngineCommitsOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** Number of this process among those that have the store open, not 0: it is stored while the
   *  process has commit priority (`CommitPriority`). */
  readonly owner: number;
  /** Adds the old values of the changed keys to a batch, for the restore of saved states. */
  readonly withUndo: (batch: EngineBatch, current: EngineReader) => EngineBatch;
}

/** Commits batches (transactions that share a flush) to a local engine. Each is validated under its
 *  write lock, where no other process can commit: as a whole by the sequence of the state, and if
 *  another process has committed since, key by key. */
export class EngineCommits implements BatchCommits {
  readonly #options: EngineCommitsOptions;
  readonly #priority: CommitPriority;
  #writes = 0;

  constructor(options: EngineCommitsOptions) {
    this.#options = options;
    this.#priority = new CommitPriority(options);
  }

  /** Number of batches that this process has written or failed to write. A transaction that finds
   *  it unchanged since its view was opened need not open another view (`#commonSequence`). */
  get writes(): number {
    return this.#writes;
  }

  async commit(batch: PendingBatch): Promise<BatchResult> {
    const latest = new LatestState(
      this.#commonSequence(batch.transactions) ?? (await this.#priority.openInTurn()),
      this.#options.engine,
    );
    let accepted: readonly QueuedTransaction[];
    try {
      accepted = await batch.accept(latest);
    } finally {
      latest.close();
    }
    if (accepted.length === 0) return nothingWritten;
    return this.#write(batch, accepted, latest.sequence);
  }

  /** The sequence (number) of the state that all transactions of a batch have read, if this process
   *  has written nothing since; undefined if they have read several. A newer state could differ
   *  only by commits or the priority of other processes, which are checked under the write lock all
   *  the same. Clients that are answered together send their next requests together, so nearly
   *  every batch has one state. */
  #commonSequence(transactions: readonly QueuedTransaction[]): number | undefined {
    const sequence = transactions[0]?.attempt.sequence;
    for (const { isStale, writesBefore, attempt } of transactions) {
      const isLatest = !isStale && writesBefore === this.#writes;
      if (!isLatest || attempt.sequence !== sequence) return undefined;
    }
    return sequence;
  }

  /** Commits transactions that are valid for the state with this sequence, together with those that
   *  were queued while the write lock was awaited. */
  async #write(
    batch: PendingBatch,
    accepted: readonly QueuedTransaction[],
    sequence: number,
  ): Promise<BatchResult> {
    const { engine, withUndo } = this.#options;
    let result: BatchResult = postponed;
    try {
      await engine.commit((current) => {
        if (this.#priority.mustYield(current.priorityOwner)) return undefined;
        const dropped =
          sequence === current.sequence ? noneDropped : conflictsOf(accepted, current);
        const written = this.#batchOf(batch.join(current), dropped, current);
        if (written !== undefined) ensureOrder(written, current, sequence);
        result = { kind: "committed", dropped, commit: commitOf(written, current) };
        return written && withUndo(written, current);
      }, changesIn(accepted));
    } finally {
      this.#writes += 1;
    }
    if (result !== postponed) this.#priority.committed();
    return result;
  }

  /** What the engine writes for these transactions; undefined if there is nothing to write. */
  #batchOf(
    accepted: readonly QueuedTransaction[],
    dropped: ReadonlySet<QueuedTransaction>,
    current: EngineReader,
  ): EngineBatch | undefined {
    const placed = accepted.filter((each) => !each.attempt.changes.isEmpty && !dropped.has(each));
    const priorityOwner = [...dropped].some(isStarving) ? this.#options.owner : 0;
    if (placed.length === 0 && priorityOwner === current.priorityOwner) return undefined;
    const attempts = placed.map(({ attempt }) => attempt);
    return {
      sequence: current.sequence + placed.length,
      ticks: latestTicks(attempts, current.ticks),
      priorityOwner,
      writes: writesOf(attempts, current),
      mayUseReserve: accepted.every(isFreeing),
    };
  }
}

/** The latest state of the store, with which the transactions of a batch are compared. A view of it
 *  is opened only if one has read an older state, or must be retried. */
class LatestState implements BatchState {
  readonly sequence: number;
  readonly #engine: Engine;
  #view: EngineView | undefined;
  #cached: EngineReader | undefined;

  constructor(known: number | EngineView, engine: Engine) {
    this.#view = typeof known === "number" ? undefined : known;
    this.sequence = typeof known === "number" ? known : known.sequence;
    this.#engine = engine;
  }

  isStale(attempt: Attempt): boolean {
    return attempt.sequence !== this.sequence && attempt.isStaleAgainst(this.readerFor());
  }

  readerFor(): EngineReader {
    this.#view ??= this.#engine.open();
    return (this.#cached ??= cachingReader(this.#view));
  }

  close(): void {
    this.#view?.close();
  }
}

const noneDropped: ReadonlySet<QueuedTransaction> = new Set();
const postponed: BatchResult = { kind: "postponed" };
const nothingWritten: BatchResult = {
  kind: "committed",
  dropped: noneDropped,
  commit: undefined,
};

/** The commit as it is reported to watchers (callbacks for changed keys). Undefined if only the
 *  commit priority changes. */
function commitOf(batch: EngineBatch | undefined, current: EngineReader): Committed | undefined {
  const { sequence: previous } = current;
  if (batch === undefined || batch.sequence === previous) return undefined;
  return { previous, sequence: batch.sequence, writes: batch.writes };
}

/** Throws if a commit would break the order of the store, or set its time back. A transaction that
 *  has read a later state than the one it is committed to shows that the store lost commits. */
function ensureOrder(batch: EngineBatch, current: EngineReader, readSequence: number): void {
  const { sequence, ticks, writes } = batch;
  const isLater =
    sequence > current.sequence || (sequence === current.sequence && writes.length === 0);
  ensure(isLater, () => `commit ${sequence} would follow commit ${current.sequence}`);
  ensure(ticks >= current.ticks, () => `commit ${sequence} would set the time of the store back`);
  ensure(
    readSequence <= current.sequence,
    () => `state ${readSequence} was read, but the store is at ${current.sequence}`,
  );
}

function isFreeing({ attempt, mayUseReserve }: QueuedTransaction): boolean {
  return mayUseReserve === true || attempt.changes.isEmpty;
}

function changesIn(accepted: readonly QueuedTransaction[]): number {
  let count = 0;
  for (const { attempt } of accepted) count += attempt.changes.count;
  return count;
}

/** The transactions that have read something that other processes have changed since, and those
 *  that depend on them. */
function conflictsOf(
  accepted: readonly QueuedTransaction[],
  current: EngineReader,
): ReadonlySet<QueuedTransaction> {
  const dropped = new Set<QueuedTransaction>();
  const attempts = new Set<Attempt>();
  for (const queued of accepted) {
    const { attempt } = queued;
    if (!attempt.dependsOnAny(attempts) && !attempt.isStaleAgainst(current)) continue;
    dropped.add(queued);
    attempts.add(attempt);
  }
  return dropped;
}

/** After so many conflicts with other processes, a transaction claims priority for its process. */
const conflictsBeforePriority = 4;
/** How often a process looks whether another still has the priority, before it commits all the
 *  same: a few milliseconds. The owner needs less unless it was stopped. */
const yieldPollsMax = 1000;

/** Whether the process of a transaction that conflicts once more claims commit priority. */
function isStarving({ externalConflicts }: QueuedTransaction): boolean {
  return externalConflicts + 1 >= conflictsBeforePriority;
}

/** Prevents starvation between processes. The process that just committed usually gets the write
 *  lock again, so a transaction of another process on the same key would conflict every time. After
 *  4 conflicts with other processes, a process stores its id as priority owner. All other processes
 *  then delay their next commit until the id is removed. */
class CommitPriority {
  readonly #engine: Engine;
  readonly #clock: Clock;
  readonly #owner: number;
  /** The process whose priority is ignored, because it did not commit in time; 0 for none. */
  #ignored = 0;

  constructor({ engine, clock, owner }: EngineCommitsOptions) {
    this.#engine = engine;
    this.#clock = clock;
    this.#owner = owner;
  }

  /** Whether another process, which has the priority, must commit before this one. */
  mustYield(priorityOwner: number): boolean {
    return priorityOwner !== 0 && priorityOwner !== this.#owner && priorityOwner !== this.#ignored;
  }

  /** Called after each commit, which has stored a new priority owner or none, so none is
   *  ignored. */
  committed(): void {
    this.#ignored = 0;
  }

  /** Opens the latest state when no other process has the priority. */
  async openInTurn(): Promise<EngineView> {
    for (let polls = 1; ; polls += 1) {
      const view = this.#engine.open();
      if (polls > yieldPollsMax) this.#ignored = view.priorityOwner;
      if (!this.mustYield(view.priorityOwner)) return view;
      view.close();
      await new Promise<void>((resolve) => this.#clock.nextIteration(resolve));
    }
  }
}
