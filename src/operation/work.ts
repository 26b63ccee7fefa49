import type { Awaitable } from "../base/awaitable.ts";
import { ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import type { ContentStore } from "../content/content.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import { applyEffects } from "./apply.ts";
import type { ContentionQueues } from "./contention-queues.ts";
import type { Effect } from "./effects.ts";
import { settleUsage, type Quotas, type UsageChange } from "./quotas.ts";
import { Records } from "./records.ts";
import type { RenderCache } from "./render-cache.ts";
import type { WaitDecision } from "./reply.ts";

/** Runs work in a transaction or on a snapshot with all that belongs to it: effects, quotas,
 *  waiting. REST requests (`execute.ts`), SMB requests, event delivery and background tasks are
 *  such work. */

/** The parts of the process with which work is executed. */
export interface Runtime {
  readonly store: Store;
  readonly content: ContentStore;
  readonly random: Random;
  /** For time-outs only. The current time of an operation is that of the store. */
  readonly clock: Clock;
  readonly log?: Log;
  /** Identifies this runtime as the origin of changes, so that its own watchers ignore them;
   *  undefined: all watchers are notified. */
  readonly origin?: string;
  /** Cache of rendered listing entries; undefined: each entry is rendered. */
  readonly renderings?: RenderCache;
  /** FIFO queues of clients that retry conditional writes; undefined: no fair order. */
  readonly contentionQueues?: ContentionQueues;
  /** The requests that wait for a record, for the admin API; undefined: they are not listed. */
  readonly waits?: Waits;
  /** Admits writes to accounts with a quota; undefined: each of them reads the counter of its
   *  account with validation. */
  readonly quotas?: Quotas | undefined;
}

/** A piece of work that runs in one transaction or on one store snapshot: a REST request, the parts
 *  of a batch, an SMB request, a step of a background task. */
export interface Work<T> {
  readonly effect: "reads" | "writes";
  /** Whether it may use the disk space that is kept free for deletions, and exceed a quota. */
  readonly mayUseReserve?: boolean | undefined;
  /** Runs only inside the commit batch (transactions committed by one write), because an earlier
   *  attempt would conflict: concurrent work changes the same records. */
  readonly runInBatch?: true | undefined;
  /** Reads what an attempt will read, so that a remote engine fetches it in one round trip. */
  readonly prefetch?: (view: View) => Promise<unknown>;
  /** Runs again on a new state after a conflict, so it changes nothing but its transaction. */
  readonly attempt: (attempt: Attempt) => Awaitable<T>;
}

/** One execution of a work's `attempt`, which a conflict makes another one follow: the state that
 *  it reads, and the transaction that it writes to. */
export class Attempt {
  readonly runtime: Runtime;
  readonly view: View;
  /** Undefined for work that only reads. */
  readonly tx: Transaction | undefined;
  readonly now: Ticks;
  /** Bytes that the attempt adds to an account with a quota; undefined if it has none. */
  usage: UsageChange | undefined;
  #records: Records | undefined;

  constructor(runtime: Runtime, view: View, tx: Transaction | undefined) {
    this.runtime = runtime;
    this.view = view;
    this.tx = tx;
    this.now = view.now;
  }

  get records(): Records {
    return (this.#records ??= new Records(this.view, this.runtime.content, this.runtime));
  }

  apply(effects: readonly Effect[]): Awaitable<void> {
    const { runtime, tx, now, usage } = this;
    if (effects.length === 0) return undefined;
    if (tx === undefined) throw new Error("work that only reads has effects");
    return applyEffects(runtime.content, tx, effects, now, { origin: runtime.origin, usage });
  }
}

/** Executes work and returns its result. If a record that an attempt has read changes before the
 *  commit, the store repeats the attempt on the new state. Unlike `runUntilDone`, it does not
 *  repeat work whose outcome is a wait. */
export async function runOnce<T>(runtime: Runtime, work: Work<T>): Promise<T> {
  try {
    return await commit(runtime, work);
  } finally {
    runtime.quotas?.release(work);
  }
}

/** As `runOnce`, and runs the work again as long as its outcome is a wait. The effects of a wait
 *  must be committed, so the work then runs in transactions, also if it only reads. `finish` is
 *  called with the result. */
export async function runUntilDone<T extends object>(
  runtime: Runtime,
  work: Work<T | WaitOutcome>,
  waiter: Waiter,
  finish?: (runtime: Runtime, result: T) => Promise<void> | undefined,
): Promise<T> {
  try {
    const first = await commit(runtime, work);
    const result = isWaitOutcome(first)
      ? await runUntilReady<T>(runtime, waiter, () => write(runtime, work))
      : first;
    const finishing = finish?.(runtime, result);
    if (finishing !== undefined) await finishing;
    return result;
  } finally {
    runtime.quotas?.release(work);
  }
}

function commit<T>(runtime: Runtime, work: Work<T>): Promise<T> {
  if (work.effect === "writes") return write(runtime, work);
  return runtime.store.snapshot(
    (view) => work.attempt(new Attempt(runtime, view, undefined)),
    work,
  );
}

function write<T>(runtime: Runtime, work: Work<T>): Promise<T> {
  return runtime.store.transact((tx) => attemptIn(runtime, work, tx), work);
}

function attemptIn<T>(runtime: Runtime, work: Work<T>, tx: Transaction): Awaitable<T> {
  const attempt = new Attempt(runtime, tx, tx);
  const result = work.attempt(attempt);
  if (!(result instanceof Promise) && attempt.usage === undefined) return result;
  return settle(attempt, work, tx, result);
}

/** Adds the written bytes of an attempt to the usage of its account; fails beyond the quota. */
async function settle<T>(
  attempt: Attempt,
  work: Work<T>,
  tx: Transaction,
  result: Awaitable<T>,
): Promise<T> {
  const value = await result;
  const { usage, runtime } = attempt;
  if (usage !== undefined) {
    const isExempt = work.mayUseReserve === true;
    await settleUsage(runtime.quotas, tx, usage, { request: work, isExempt });
  }
  return value;
}

/** The outcome of an attempt whose decision must wait. */
export interface WaitOutcome extends WaitDecision {
  readonly kind: "wait";
}

export function isWaitOutcome(outcome: object): outcome is WaitOutcome {
  return "kind" in outcome && outcome.kind === "wait";
}

/** A request that may have to wait, as the list of waits in the admin API shows it. */
interface Waiter {
  /** The remote address of an SMB connection; undefined for a REST request, whose connection may be
   *  that of a gateway. */
  readonly client?: string;
  /** Name of the operation. */
  readonly operation: string;
  /** The byte ranges that the request locks; undefined if it waits for something else. */
  readonly ranges?: readonly { readonly offset: bigint; readonly length: bigint }[] | undefined;
}

/** A request that waits until a record changes: for a lock, or until another client gives up a
 *  caching grant (SMB lease or oplock). */
export interface Wait extends Waiter {
  /** The key of the record. */
  readonly key: Uint8Array;
  /** Wall time at which the wait began. */
  readonly since: Ticks;
}

/** The waiting requests of this process, for the admin API. */
export class Waits {
  readonly #waits = new Set<Wait>();
  #count = 0;

  /** Number of waits since the start. */
  get count(): number {
    return this.#count;
  }

  /** Returns a function that ends the wait. */
  add(wait: Wait): () => void {
    this.#count += 1;
    this.#waits.add(wait);
    return () => void this.#waits.delete(wait);
  }

  list(): readonly Wait[] {
    return [...this.#waits];
  }
}

/** How a request can be interrupted while it waits. */
interface Interruption<I> {
  /** Called before each wait; a result ends the request. */
  readonly before: () => I | undefined;
  /** Called after each wait; a result ends the request. */
  readonly after: () => I | undefined;
  /** Registers a listener that is called when the wait must end early, for example because its SMB
   *  connection was closed. Returns a function that removes it. */
  readonly onInterrupt: (listener: () => void) => () => void;
}

/** Far more attempts than the longest wait (36 s, for the break of an SMB lease) needs; reaching it
 *  is a bug. */
const attemptsMax = 10_000;

/** Runs `attempt` until its outcome is not a wait: again when the key changes that it waits for,
 *  and when the wait has timed out. The decision itself handles the time-out. */
export async function runUntilReady<T extends object, I = never>(
  { store, clock, waits }: Pick<Runtime, "store" | "clock" | "waits">,
  waiter: Waiter,
  attempt: () => Promise<T | WaitOutcome>,
  interruption?: Interruption<I>,
): Promise<T | I> {
  const signal = newSignal();
  let key: Uint8Array | undefined;
  let end = (): void => undefined;
  const removeListener = interruption?.onInterrupt(signal.raise);
  try {
    for (let count = 0; count < attemptsMax; count += 1) {
      const raised = signal.next();
      const outcome = await attempt();
      if (!isWaitOutcome(outcome)) return outcome;
      const { wait } = outcome;
      const refused = interruption?.before();
      if (refused !== undefined) return refused;
      if (key === undefined || Buffer.compare(key, wait.key) !== 0) {
        end();
        ({ key } = wait);
        end = beginWait(store, { ...waiter, key, since: clock.wall() }, waits, signal.raise);
        // The key may have changed before it was watched; the next attempt sees such a change.
        continue;
      }
      const now = await store.snapshot((view) => Promise.resolve(view.now));
      const left = Number((wait.until - now) / ticksPerMillisecond) + 1;
      const cancelTimer = clock.after(Math.max(left, 1), signal.raise);
      await raised;
      cancelTimer();
      const interrupted = interruption?.after();
      if (interrupted !== undefined) return interrupted;
    }
  } finally {
    end();
    removeListener?.();
  }
  throw new Error(`${waiter.operation} waited more than ${attemptsMax} times`);
}

/** Watches the key and lists the wait; returns a function that ends both. */
function beginWait(
  store: Store,
  wait: Wait,
  waits: Waits | undefined,
  onChange: () => void,
): () => void {
  const unwatch = store.watch(wait.key, onChange);
  const endWait = waits?.add(wait);
  return () => {
    unwatch();
    endWait?.();
  };
}

/** A signal between a watched key and the attempt that waits for it. `next` is called before an
 *  attempt, so that no change during the attempt is missed; `raise` resolves the promise of the
 *  last `next`. */
function newSignal() {
  let resolveNext = (): void => undefined;
  return {
    raise: (): void => resolveNext(),
    next: (): Promise<void> =>
      new Promise((resolve) => {
        resolveNext = resolve;
      }),
  };
}
