import { StoreUnavailable } from "./store.ts";
import type { Bounds, Entry, Key, Store, TransactOptions, Transaction, View } from "./store.ts";

export interface FaultPlan {
  /** The same seed gives the same faults. */
  readonly seed: number;
  /** The share of transactions that fail, with nothing committed. */
  readonly unavailableShare?: number;
  /** The share of transactions whose work is run once in vain, as after a lost race. */
  readonly conflictShare?: number;
  /** Every read and every commit may wait for up to this many turns of the event loop. */
  readonly delayTurnsMax?: number;
  /** At this transaction that writes, the process "ends": before its commit, or just after it. */
  readonly crash?: { readonly atTransaction: number; readonly when: "before" | "after" };
  /** Called now and then; moves a wall clock, for instance. */
  readonly disturb?: (random: number) => void;
}

/** The store is gone, as far as the caller can see. What it was told before still holds. */
export class StoreCrashed extends Error {
  override readonly name = "StoreCrashed";
}

/** Thrown through the inner store to take back what a run has written. */
class RolledBack extends Error {
  override readonly name = "TakenBack";
}

/** A store that behaves as badly as the contract allows. */
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
      throw new StoreUnavailable("no space left, says the fault plan");
    }
    const value = await this.#inner.transact(slowWork, options);
    if (isLast) this.#crash();
    await this.#delay();
    return value;
  }

  async snapshot<T>(work: (view: View) => Promise<T>): Promise<T> {
    await this.#disturb();
    return this.#inner.snapshot((view) => work(this.#slowedView(view)));
  }

  watch(prefix: Key, onChange: () => void): () => void {
    return this.#inner.watch(prefix, onChange);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #crash(): never {
    this.#crashed = true;
    throw new StoreCrashed("the process has ended, says the fault plan");
  }

  async #disturb(): Promise<void> {
    if (this.#crashed) this.#crash();
    this.#plan.disturb?.(this.#random());
    await this.#delay();
  }

  async #delay(): Promise<void> {
    const turns = Math.floor(this.#random() * ((this.#plan.delayTurnsMax ?? 0) + 1));
    for (let turn = 0; turn < turns; turn += 1) {
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
      // Whatever this run came to, it never happened.
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
      take: async (bounds) => {
        await this.#delay();
        return view.take(bounds);
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

/** Mulberry32: small, and the same everywhere. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
