import type { Clock } from "../base/world.ts";
import { postponed } from "./commit-batch.ts";
import type { BatchResult, BatchWriter, CommitBatch } from "./commit-batch.ts";
import { decideGroup } from "./decide-group.ts";
import type { GroupDecision } from "./decide-group.ts";
import { Gathering } from "./gathering.ts";
import type { Engine, EngineBatch, EngineReader } from "./engine.ts";
import type { KeyText } from "./key-text.ts";

/** A durable commit. */
export interface Committed {
  /** The sequence before the commit. */
  readonly previous: number;
  readonly sequence: number;
  /** The written keys. */
  readonly writes: readonly { readonly text: KeyText }[];
}

/** A durable commit of this process. */
export interface GroupCommit extends Committed {
  /** Number of committed transactions. */
  readonly transactions: number;
  /** Number of attempts that conflicted since the previous commit. */
  readonly conflicts: number;
}

export interface GroupWriterOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly onCommitted: (commit: GroupCommit) => void;
  /** Adds the undo entries of saved states to what is written. */
  readonly withUndo?: ((batch: EngineBatch, current: EngineReader) => EngineBatch) | undefined;
}

interface QueuedBatch {
  readonly batch: CommitBatch;
  readonly resolve: (result: BatchResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Commits batches through the engine: all queued batches with one flush, while the next ones are
 *  collected. Without followers the queue never holds more than one batch. */
export class GroupWriter implements BatchWriter {
  readonly #engine: Engine;
  readonly #onCommitted: (commit: GroupCommit) => void;
  readonly #withUndo: GroupWriterOptions["withUndo"];
  readonly #gathering: Gathering;
  readonly #queue: QueuedBatch[] = [];
  #isRunning = false;
  /** Processes from whose batches the previous commit dropped attempts. */
  #losers: ReadonlySet<number> = noLosers;

  constructor({ engine, clock, onCommitted, withUndo }: GroupWriterOptions) {
    this.#engine = engine;
    this.#withUndo = withUndo;
    this.#gathering = new Gathering(clock);
    this.#onCommitted = onCommitted;
  }

  /** Commits the batch as soon as no other commit runs. */
  write(batch: CommitBatch): Promise<BatchResult> {
    const result = this.#add(batch);
    if (!this.#isRunning) void this.#run();
    return result;
  }

  /** Commits the batch with those that arrive until the end of this event-loop iteration. */
  writeLater(batch: CommitBatch): Promise<BatchResult> {
    const result = this.#add(batch);
    setImmediate(() => {
      if (!this.#isRunning) void this.#run();
    });
    return result;
  }

  #add(batch: CommitBatch): Promise<BatchResult> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ batch, resolve, reject });
      this.#gathering.arrived();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#queue.length > 0) {
      await this.#gathering.complete(this.#queue);
      await this.#commit(this.#fairOrder(this.#queue.splice(0)));
    }
    this.#isRunning = false;
  }

  /** Processes that lost conflicts in the previous commit come first, so that processes that change
   *  the same keys take turns. */
  #fairOrder(group: readonly QueuedBatch[]): readonly QueuedBatch[] {
    if (group.length === 1 || this.#losers.size === 0) return group;
    const rank = ({ batch }: QueuedBatch): number => (this.#losers.has(batch.owner) ? 0 : 1);
    return group.toSorted((left, right) => rank(left) - rank(right));
  }

  async #commit(group: readonly QueuedBatch[]): Promise<void> {
    const batches = group.map(({ batch }) => batch);
    let decision: GroupDecision | undefined;
    let previous = 0;
    this.#gathering.begin(batches);
    try {
      await this.#engine.commit((current) => {
        decision = decideGroup(batches, current);
        previous = current.sequence;
        const { engineBatch } = decision;
        return engineBatch && (this.#withUndo?.(engineBatch, current) ?? engineBatch);
      }, countOf(batches));
    } catch (error) {
      if (group.length === 1) return group[0]?.reject(error);
      // One of the batches may have caused the failure, for example by its size on a full disk.
      // Each is committed separately, so that the others succeed.
      for (const each of group) await this.#commit([each]);
      return;
    }
    this.#gathering.end();
    this.#losers = losersOf(batches, decision?.results ?? []);
    for (const [index, { resolve }] of group.entries()) {
      resolve(decision?.results[index] ?? postponed);
    }
    if (decision !== undefined) this.#report(decision, batches, previous);
  }

  #report(decision: GroupDecision, batches: readonly CommitBatch[], previous: number): void {
    const { engineBatch, transactions } = decision;
    if (engineBatch === undefined || transactions === 0) return;
    const { sequence, writes } = engineBatch;
    const conflicts = batches.reduce((sum, batch) => sum + batch.conflicts, 0);
    this.#onCommitted({ previous, sequence, writes, transactions, conflicts });
  }
}

const noLosers: ReadonlySet<number> = new Set();

/** The processes from whose batches attempts were dropped. */
function losersOf(
  batches: readonly CommitBatch[],
  results: readonly BatchResult[],
): ReadonlySet<number> {
  const hasLost = (result: BatchResult | undefined): boolean =>
    result?.kind === "committed" && result.dropped.size > 0;
  if (!results.some(hasLost)) return noLosers;
  return new Set(batches.filter((_, index) => hasLost(results[index])).map(({ owner }) => owner));
}

/** Number of changes in the batches. */
function countOf(batches: readonly CommitBatch[]): number {
  let count = 0;
  for (const { attempts } of batches) for (const { changes } of attempts) count += changes.count;
  return count;
}
