import { describeFailure } from "../parts/notices.tsx";
import type { Failure, Result } from "../result.ts";
import { createStore } from "../store.ts";

/** One action on many objects, for example the deletion of a folder. */
export interface Work<Item> {
  /** For example `Delete 3 blobs`. */
  readonly title: string;
  /** Lists the items while earlier ones are processed; a failure ends the list. `idle` resolves
   *  when all items listed so far are processed. */
  readonly items: (context: ItemContext) => AsyncIterable<Result<Item>>;
  readonly nameOf: (item: Item) => string;
  /** Processes an item; `isRetry` if the user repeats it after a failure. */
  readonly run: (item: Item, context: RunContext) => Promise<Result<unknown>>;
  readonly atOnceMax?: number;
  /** Called when all items are processed, not after a cancellation; returns what to show. */
  readonly finish?: () => string;
  /** Called when the job ends or is cancelled. */
  readonly onDone: () => void;
}

export interface ItemContext {
  readonly signal: AbortSignal;
  readonly idle: () => Promise<void>;
}

export interface RunContext {
  readonly signal: AbortSignal;
  readonly isRetry: boolean;
}

interface JobFailure {
  readonly id: number;
  readonly name: string;
  readonly problem: string;
}

export interface Job {
  readonly id: number;
  readonly title: string;
  readonly state: "running" | "done" | "cancelled";
  readonly doneCount: number;
  /** Items found so far; all of them once `isListed`. */
  readonly foundCount: number;
  readonly isListed: boolean;
  readonly failures: readonly JobFailure[];
  /** Failures beyond those that are kept. */
  readonly moreFailures: number;
  /** Why the items could not be listed. */
  readonly problem?: string | undefined;
  readonly result?: string | undefined;
}

interface Running {
  readonly work: Work<unknown>;
  readonly failed: Map<number, unknown>;
  abort: AbortController;
}

/** Items that are processed at the same time. */
const atOnceDefault = 6;
/** Failures that are kept, with their items, for a retry. */
const failuresMax = 1000;
const announceMilliseconds = 150;

const all = new Map<number, Job>();
const running = new Map<number, Running>();
/** Incremented when `allJobs` changes, at most every 150 ms. */
export const jobChanges = createStore(0);
let lastId = 0;
let announcement: ReturnType<typeof setTimeout> | undefined;

export function allJobs(): readonly Job[] {
  return [...all.values()];
}

function announce(): void {
  announcement ??= setTimeout(() => {
    announcement = undefined;
    jobChanges.update((before) => before + 1);
  }, announceMilliseconds);
}

function change(id: number, patch: (job: Job) => Partial<Job>): void {
  const present = all.get(id);
  if (present === undefined) return;
  all.set(id, { ...present, ...patch(present) });
  announce();
}

export function startJob<Item>(work: Work<Item>): void {
  lastId += 1;
  const id = lastId;
  all.set(id, {
    id,
    title: work.title,
    state: "running",
    doneCount: 0,
    foundCount: 0,
    isListed: false,
    failures: [],
    moreFailures: 0,
  });
  running.set(id, {
    work: work as unknown as Work<unknown>,
    failed: new Map(),
    abort: new AbortController(),
  });
  announce();
  void drive(id, work.items as Work<unknown>["items"], false);
}

/** Processes the items with bounded concurrency: listing waits for a free slot. */
async function drive(id: number, items: Work<unknown>["items"], isRetry: boolean): Promise<void> {
  const job = running.get(id);
  if (job === undefined) return;
  const { work } = job;
  const { signal } = job.abort;
  const atOnceMax = work.atOnceMax ?? atOnceDefault;
  const busy = new Set<Promise<void>>();
  const idle = async (): Promise<void> => {
    while (busy.size > 0) await Promise.all(busy);
  };
  for await (const item of items({ signal, idle })) {
    if (signal.aborted) break;
    if (!item.ok) {
      change(id, () => ({ problem: describeFailure(item.failure) }));
      break;
    }
    change(id, ({ foundCount }) => ({ foundCount: foundCount + 1 }));
    const one: Promise<void> = runOne(id, item.value, isRetry).finally(() => busy.delete(one));
    busy.add(one);
    while (busy.size >= atOnceMax) await Promise.race(busy);
  }
  change(id, () => ({ isListed: true }));
  await idle();
  end(id);
}

async function runOne(id: number, item: unknown, isRetry: boolean): Promise<void> {
  const job = running.get(id);
  if (job === undefined || job.abort.signal.aborted) return;
  const result = await job.work.run(item, { signal: job.abort.signal, isRetry });
  if (result.ok) change(id, ({ doneCount }) => ({ doneCount: doneCount + 1 }));
  else keepFailure(id, item, result.failure);
}

function keepFailure(id: number, item: unknown, failure: Failure): void {
  const job = running.get(id);
  if (job === undefined || job.abort.signal.aborted) return;
  if (job.failed.size >= failuresMax) {
    return change(id, ({ moreFailures }) => ({ moreFailures: moreFailures + 1 }));
  }
  lastId += 1;
  const kept = { id: lastId, name: job.work.nameOf(item), problem: problemOf(failure) };
  job.failed.set(lastId, item);
  change(id, ({ failures }) => ({ failures: [...failures, kept] }));
}

function problemOf(failure: Failure): string {
  return failure.status === 412 && !failure.code.startsWith("Lease")
    ? "Changed by another client since it was listed. Retry acts on its present state."
    : describeFailure(failure);
}

function end(id: number): void {
  const job = running.get(id);
  if (job === undefined) return;
  const isCancelled = job.abort.signal.aborted;
  const present = all.get(id);
  const isWhole = !isCancelled && present?.problem === undefined;
  const result = isWhole ? job.work.finish?.() : undefined;
  change(id, () => ({ state: isCancelled ? "cancelled" : "done", result }));
  job.work.onDone();
}

export function cancelJob(id: number): void {
  running.get(id)?.abort.abort();
}

/** Processes the failed items again. */
export function retryJob(id: number): void {
  const job = running.get(id);
  if (job === undefined || all.get(id)?.state === "running") return;
  const items = [...job.failed.values()];
  job.failed.clear();
  job.abort = new AbortController();
  change(id, ({ foundCount, failures }) => ({
    state: "running",
    failures: [],
    moreFailures: 0,
    foundCount: foundCount - failures.length,
  }));
  const again = async function* (): AsyncGenerator<Result<unknown>> {
    for (const value of items) yield await Promise.resolve({ ok: true, value });
  };
  void drive(id, again, true);
}

export function dismissJob(id: number): void {
  running.delete(id);
  all.delete(id);
  announce();
}

export function isAnyJobRunning(): boolean {
  return [...all.values()].some(({ state }) => state === "running");
}
