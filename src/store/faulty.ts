import { StoreUnavailable } from "./store.ts";
import type { Bounds, Entry, Key, SnapshotOptions, Store } from "./store.ts";
import type { TransactOptions, Transaction, View } from "./store.ts";

export interface FaultPlan {
  /** The same seed gives the same faults. */
  readonly seed: number;
  /** Share of transactions that fail with `StoreUnavailable` and commit nothing. */
  readonly unavailableShare?: number;
  /** Share of transactions whose work runs one extra time and is rolled back, as after a
   *  conflict. */
  readonly conflictShare?: number;
  /** Every read and commit is delayed by 0 to this many event-loop iterations. */
  readonly delayIterationsMax?: number;
  /** The simulated process ends at this transaction, counted from 1: before its commit or just
   *  after it. */
  readonly crash?: { readonly atTransaction: number; readonly when: "before" | "after" };
  /** Called before each operation with a random number, for example to move the wall clock. */
  readonly disturb?: (random: number) => void;
}

/** The simulated process has ended. Transactions acknowledged before are durable. */
export class StoreCrashed extends Error {
  override readonly name = "StoreCrashed";
}

/** Thrown by work to make the inner store discard its writes. */
class RolledBack extends Error {
  override readonly name = "RolledBack";
}

/** A store with injected faults, for tests: every fault that the contract of `Store` allows. */
export class FaultyStore implements Store {
  readonly #inner: Store;
  readonly #plan: FaultPlan;
  readonly #random: () => number;
  #transactions = 0;
  #crashed = false;

  constructor(inner: Store, plan: FaultPlan) {
    this.#inner = inner;
    this.#plan = plan;
    this.#random = seededRandom(plan.seed);
  }

  async transact<T>(
    work: (tx: Transaction) => Promise<T>,
    options: TransactOptions = {},
  ): Promise<T> {
    await this.#disturb();
    const slowWork = (tx: Transaction): Promise<T> => work(this.#slowed(tx));
    if (this.#happens(this.#plan.conflictShare)) await this.#runAndRollBack(slowWork);
    this.#transactions += 1;
    const crash = this.#plan.crash;
    const isLast = crash !== undefined && this.#transactions >= crash.atTransaction;
    if (isLast && crash.when === "before") this.#crash();
    if (this.#happens(this.#plan.unavailableShare)) {
      await this.#runAndRollBack(slowWork);
      throw new StoreUnavailable("no space left (injected fault)");
    }
    const value = await this.#inner.transact(slowWork, options);
    if (isLast) this.#crash();
    await this.#delay();
    return value;
  }

  async snapshot<T>(work: (view: View) => Promise<T>, options?: SnapshotOptions): Promise<T> {
    await this.#disturb();
    return this.#inner.snapshot((view) => work(this.#slowedView(view)), options);
  }

  watch(prefix: Key, onChange: () => void): () => void {
    return this.#inner.watch(prefix, onChange);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #crash(): never {
    this.#crashed = true;
    throw new StoreCrashed("the process has ended (injected fault)");
  }

  async #disturb(): Promise<void> {
    if (this.#crashed) this.#crash();
    this.#plan.disturb?.(this.#random());
    await this.#delay();
  }

  async #delay(): Promise<void> {
    const iterations = Math.floor(this.#random() * ((this.#plan.delayIterationsMax ?? 0) + 1));
    for (let index = 0; index < iterations; index += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #happens(share = 0): boolean {
    return this.#random() < share;
  }

  async #runAndRollBack(work: (tx: Transaction) => Promise<unknown>): Promise<void> {
    try {
      await this.#inner.transact(async (tx) => {
        await work(tx);
        throw new RolledBack();
      });
    } catch {
      // The result is irrelevant: this attempt was rolled back.
    }
  }

  #slowedView(view: View): View {
    return {
      now: view.now,
      sequence: view.sequence,
      get: async (key) => {
        await this.#delay();
        return view.get(key);
      },
      range: (bounds) => this.#slowedRange(view, bounds),
      readHead: async (bounds) => {
        await this.#delay();
        return view.readHead(bounds);
      },
    };
  }

  #slowed(tx: Transaction): Transaction {
    return {
      ...this.#slowedView(tx),
      peek: async (key) => {
        await this.#delay();
        return tx.peek(key);
      },
      put: (key, value) => tx.put(key, value),
      delete: (key) => tx.delete(key),
      add: (counter, delta) => tx.add(counter, delta),
    };
  }

  async *#slowedRange(view: View, bounds: Bounds): AsyncGenerator<readonly Entry[]> {
    for await (const entries of view.range(bounds)) {
      await this.#delay();
      yield entries;
    }
  }
}

/** Mulberry32, a small generator with the same sequence on every machine. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
