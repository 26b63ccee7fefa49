import type { Ticks } from "../../src/base/ticks.ts";
import type {
  EngineBatch,
  EngineReader,
  EngineView,
  VersionedEntry,
} from "../../src/store/engine.ts";
import type { EngineFile } from "../../src/store/lmdb/overlay-engine.ts";
import { StoreFull, StoreUnavailable } from "../../src/store/store.ts";
import {
  Edit,
  emptyTree,
  treeDelete,
  treeGet,
  treePut,
  treeScan,
  type TreeNode,
} from "../../src/store/tree.ts";
import { count, type Conditions, type FaultCounts, type FaultRates } from "./faults.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimProcess } from "./sim-process.ts";

interface State {
  readonly root: TreeNode<VersionedEntry>;
  readonly sequence: number;
  readonly ticks: Ticks;
  readonly clockOffset: Ticks;
  readonly priorityOwner: number;
  /** For each first byte of keys, the sequence of the last commit that changed such a key. */
  readonly changes: ReadonlyMap<number, number>;
}

const emptyState: State = {
  root: emptyTree(),
  sequence: 0,
  ticks: 0n,
  clockOffset: 0n,
  priorityOwner: 0,
  changes: new Map(),
};

type Decide = (current: EngineReader) => EngineBatch | undefined;

/** The holder of the write lock, with what it is about to commit. */
interface Writer {
  readonly process: SimProcess;
  batch: EngineBatch | undefined;
}

/**
 * A file of LMDB on a simulated machine, with exactly the guarantees that the server relies on: a
 * commit is atomic; it is visible when it is durable; it is acknowledged later; of two processes
 * one at a time has the write lock, and a process that ends releases it. A commit that was decided
 * and not yet acknowledged when its process or the machine ends is there as a whole, or not at all.
 */
export class StoreFile {
  state = emptyState;
  #writer: Writer | undefined;
  readonly #waiting: { readonly process: SimProcess; readonly run: () => void }[] = [];

  /** Calls `run` when the process has the write lock. */
  lock(process: SimProcess, run: (writer: Writer) => void): void {
    const take = (): void => {
      const writer = { process, batch: undefined };
      this.#writer = writer;
      run(writer);
    };
    if (this.#writer === undefined) take();
    else this.#waiting.push({ process, run: take });
  }

  get isLocked(): boolean {
    return this.#writer !== undefined;
  }

  unlock(writer: Writer): void {
    if (this.#writer !== writer) throw new Error("the write lock has another holder");
    this.#writer = undefined;
    this.#grantNext();
  }

  /** The process has ended. */
  release(process: SimProcess, isCommitted: () => boolean): void {
    if (this.#writer?.process !== process) return;
    const { batch } = this.#writer;
    if (batch !== undefined && isCommitted()) this.apply(batch);
    this.#writer = undefined;
    this.#grantNext();
  }

  /** Visible commits are durable: nothing is lost. */
  losePower(): void {}

  apply(batch: EngineBatch): void {
    this.state = applied(this.state, batch);
  }

  #grantNext(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (next.process.isAlive) return next.run();
    }
  }
}

interface ModelEngineOptions {
  readonly file: StoreFile;
  readonly process: SimProcess;
  readonly scheduler: Scheduler;
  readonly conditions: Conditions;
  readonly rates: FaultRates;
  readonly counts: FaultCounts;
  readonly diskMicroseconds: readonly [number, number];
  /** Whether commits are flushed; others are fast and never fail. */
  readonly isFlushed: boolean;
}

const shortMicrosecondsMax = 30;

/** A process that has a file of LMDB open. */
export class ModelEngine implements EngineFile {
  readonly #options: ModelEngineOptions;

  constructor(options: ModelEngineOptions) {
    this.#options = options;
    const { file, process, scheduler } = options;
    process.onKill(() => file.release(process, () => scheduler.random.chance(0.5)));
  }

  open(): EngineView {
    return viewOf(this.#options.file.state);
  }

  checkReaders(): void {}

  commitSync(decide: Decide): number {
    const { file } = this.#options;
    if (file.isLocked) throw new Error("a synchronous commit would wait for ever");
    const batch = decide(viewOf(file.state));
    if (batch !== undefined) file.apply(batch);
    return batch?.writes.length ?? 0;
  }

  commit(decide: Decide): Promise<void> {
    const { file, process, scheduler, rates, isFlushed } = this.#options;
    return new Promise((resolve, reject) => {
      const isBlocking =
        !file.isLocked && (!isFlushed || scheduler.random.chance(rates.blockingCommit));
      const begin = (): void =>
        file.lock(process, (writer) => {
          const run = (): void => this.#decide(decide, writer, { resolve, reject, isBlocking });
          if (isBlocking) run();
          else this.#later(shortMicrosecondsMax, run);
        });
      if (isBlocking) begin();
      else this.#later(shortMicrosecondsMax, begin);
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #decide(decide: Decide, writer: Writer, call: Call): void {
    const { file, conditions } = this.#options;
    try {
      const batch = decide(viewOf(file.state));
      if (batch === undefined) return this.#end(writer, call.resolve);
      if (conditions.isDiskFull && batch.mayUseReserve !== true && this.#options.isFlushed) {
        throw new StoreFull("no space for the commit");
      }
      writer.batch = batch;
      if (this.#options.isFlushed) conditions.moments.reach("commit begun");
    } catch (error) {
      return this.#end(writer, () => call.reject(error));
    }
    this.#flush(writer, call);
  }

  #flush(writer: Writer, call: Call): void {
    const { file, process, scheduler, isFlushed, diskMicroseconds, conditions } = this.#options;
    if (!isFlushed) {
      file.apply(writer.batch!);
      return this.#end(writer, call.resolve);
    }
    const [low, high] = diskMicroseconds;
    const delay = scheduler.between(low, high) * conditions.diskSlowness;
    const complete = (): void => {
      if (this.#fails()) {
        writer.batch = undefined;
        const error = new StoreUnavailable("commit failed: input/output error");
        return this.#end(writer, () => call.reject(error));
      }
      file.apply(writer.batch!);
      writer.batch = undefined;
      conditions.moments.reach("commit applied");
      this.#end(writer, call.resolve);
    };
    if (!call.isBlocking) return void scheduler.schedule(delay, complete, process);
    // Nothing else of the process runs meanwhile.
    process.pausedUntil = Math.max(process.pausedUntil, scheduler.now + delay);
    complete();
  }

  #fails(): boolean {
    const { conditions, rates, scheduler, counts } = this.#options;
    if (!conditions.hasFaults || !scheduler.random.chance(rates.failingCommit)) return false;
    count(counts, "failing commit");
    return true;
  }

  /** Releases the lock; the process learns of the result later, and may end before. */
  #end(writer: Writer, settle: () => void): void {
    this.#options.file.unlock(writer);
    this.#later(shortMicrosecondsMax, settle);
  }

  #later(microsecondsMax: number, run: () => void): void {
    const { scheduler, process } = this.#options;
    scheduler.schedule(scheduler.random.below(microsecondsMax), run, process);
  }
}

interface Call {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  readonly isBlocking: boolean;
}

function viewOf(state: State): EngineView {
  const { sequence, ticks, clockOffset, priorityOwner, root, changes } = state;
  let isOpen = true;
  const expectOpen = (): void => {
    if (!isOpen) throw new Error("a closed view was read");
  };
  return {
    sequence,
    ticks,
    clockOffset,
    priorityOwner,
    get(_key, text) {
      expectOpen();
      return treeGet(root, text);
    },
    scan(bounds, countMax) {
      expectOpen();
      return treeScan(root, bounds, countMax);
    },
    changedSince: (since) => (firstByte) => (changes.get(firstByte) ?? 0) > since,
    close() {
      isOpen = false;
    },
  };
}

function applied(state: State, batch: EngineBatch): State {
  const edit = new Edit();
  let { root } = state;
  const changes = new Map(state.changes);
  for (const { key, text, value, revision } of batch.writes) {
    root =
      value === undefined
        ? treeDelete(root, text, edit)
        : treePut(
            root,
            text,
            { key: new Uint8Array(key), text, value: new Uint8Array(value), revision },
            edit,
          );
    if (revision !== 0) changes.set(text.charCodeAt(0), batch.sequence);
  }
  const { clockOffset = state.clockOffset, priorityOwner = state.priorityOwner } = batch;
  return {
    root,
    changes,
    sequence: batch.sequence,
    ticks: batch.ticks,
    clockOffset,
    priorityOwner,
  };
}
