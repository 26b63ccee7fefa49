import type { Result } from "../result.ts";
import type { Condition } from "../rest/blob.ts";
import { createStore } from "../store.ts";
import type { Source } from "./source.ts";

type TransferState = "waiting" | "running" | "done" | "failed" | "cancelled" | "exists";

export interface Transfer {
  readonly id: number;
  readonly name: string;
  readonly totalBytes: number;
  readonly sentBytes: number;
  readonly state: TransferState;
  readonly problem?: string;
}

/** Uploads one file under a condition, which decides what may be overwritten. */
export type Send = (work: {
  readonly source: Source;
  readonly condition: Condition;
  /** Kept while the transfer is resumed: what earlier attempts have written. */
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
  readonly onProgress: (sentBytes: number) => void;
}) => Promise<Result<unknown>>;

/** What is known of the earlier attempts of a transfer. */
interface Attempt {
  /** The ETag of the last state that an attempt has written. */
  etag?: string | undefined;
}

interface Target {
  readonly send: Send;
  /** Whether the object that exists is the result of an earlier attempt, whose response was lost
   *  or not awaited. */
  readonly isOwn: (source: Source) => Promise<boolean>;
  /** The ETag of the existing object, so that only this state is overwritten. */
  readonly etagOf: (source: Source) => Promise<string | undefined>;
  /** Called when no transfer is running or waiting any more, also after a cancellation. */
  readonly onDone: () => void;
}

interface Job {
  readonly source: Source;
  readonly target: Target;
  readonly attempt: Attempt;
  attempts: number;
  condition: Condition;
  abort: AbortController;
}

/** Files that are uploaded at the same time. */
const filesAtOnceMax = 4;
const announceMilliseconds = 150;
const all = new Map<number, Transfer>();
const waiting: number[] = [];
/** Incremented when `allTransfers` changes, at most every 150 ms. */
export const transferChanges = createStore(0);
const jobs = new Map<number, Job>();
let lastId = 0;
let running = 0;
let announcement: ReturnType<typeof setTimeout> | undefined;

export function allTransfers(): readonly Transfer[] {
  return [...all.values()];
}

function announce(): void {
  announcement ??= setTimeout(() => {
    announcement = undefined;
    transferChanges.update((before) => before + 1);
  }, announceMilliseconds);
}

export function addTransfers(sources: readonly Source[], target: Target): void {
  for (const source of sources) {
    lastId += 1;
    const { file, path } = source;
    all.set(lastId, {
      id: lastId,
      name: path,
      totalBytes: file.size,
      sentBytes: 0,
      state: "waiting",
    });
    jobs.set(lastId, {
      source,
      target,
      attempt: {},
      attempts: 0,
      condition: { ifNoneMatch: "*" },
      abort: new AbortController(),
    });
    waiting.push(lastId);
  }
  announce();
  pump();
}

function change(id: number, patch: Partial<Transfer>): void {
  const present = all.get(id);
  if (present === undefined) return;
  all.set(id, { ...present, ...patch });
  announce();
}

function pump(): void {
  while (running < filesAtOnceMax) {
    const id = waiting.shift();
    if (id === undefined) return;
    if (all.get(id)?.state !== "waiting") continue;
    running += 1;
    change(id, { state: "running" });
    void runAndGoOn(id);
  }
}

async function runAndGoOn(id: number): Promise<void> {
  await run(id);
  running -= 1;
  pump();
  if (running === 0) jobs.get(id)?.target.onDone();
}

async function run(id: number): Promise<void> {
  const job = jobs.get(id);
  if (job === undefined) return;
  const { source, target, condition, attempt, abort } = job;
  const { signal } = abort;
  const onProgress = (sentBytes: number): void => change(id, { sentBytes });
  job.attempts += 1;
  const result = await target.send({ source, condition, attempt, signal, onProgress });
  // What the service has stored is done, also if it was cancelled at the same time.
  if (result.ok) return change(id, stored(source));
  if (signal.aborted) return change(id, { state: "cancelled" });
  const { status, message } = result.failure;
  const isTaken = status === 409 || status === 412;
  if (isTaken && job.attempts > 1 && (await target.isOwn(source))) {
    return change(id, stored(source));
  }
  if (status === 409 && condition.ifNoneMatch === "*") {
    change(id, { state: "exists", problem: "The name exists" });
  } else change(id, { state: "failed", problem: message });
}

function stored({ file }: Source): Partial<Transfer> {
  return { state: "done", sentBytes: file.size };
}

export function cancelTransfer(id: number): void {
  jobs.get(id)?.abort.abort();
  const present = all.get(id);
  if (present?.state === "waiting") change(id, { state: "cancelled" });
}

export function cancelAll(): void {
  for (const { id, state } of all.values()) {
    if (state === "waiting" || state === "running") cancelTransfer(id);
  }
}

/** Continues a failed or cancelled upload. Blocks that the service already has are not sent
 *  again. */
export function resumeTransfer(id: number): void {
  const job = jobs.get(id);
  if (job === undefined) return;
  job.abort = new AbortController();
  change(id, { state: "waiting" });
  waiting.push(id);
  pump();
}

/** Overwrites the object that exists now, with If-Match: not one that is written in between. */
export async function overwrite(id: number): Promise<void> {
  const job = jobs.get(id);
  if (job === undefined) return;
  const etag = await job.target.etagOf(job.source);
  job.condition = etag === undefined ? { ifNoneMatch: "*" } : { ifMatch: etag };
  resumeTransfer(id);
}

export function clearFinished(): void {
  for (const { id, state } of all.values()) {
    if (state === "waiting" || state === "running") continue;
    all.delete(id);
    jobs.delete(id);
  }
  announce();
}
