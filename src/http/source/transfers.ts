import type { Clock, Log } from "../../core/world.ts";
import {
  claimTransfer,
  endTransfer,
  reportProgress,
  yieldTransfer,
  type TransferStore,
} from "../../execution/transfer.ts";
import { transferJobs, type StoredTransfer } from "../../execution/transfer-jobs.ts";
import type { SourceAnswer, SourceReader } from "./source-reader.ts";

export interface TransferParts extends TransferStore {
  readonly read: SourceReader;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Transfers {
  /** Breaks off what is running; it goes on where the server starts again. */
  stop(): Promise<void>;
}

const concurrentMax = 4;
const attemptsMax = 3;
/** Jobs of a process that died are noticed at the latest after this. */
const lookMilliseconds = 15_000;
const progressBytes = 16 * 1024 * 1024;
/** As large as any blob can be; what a source announces is held against it. */
const transferBytesMax = 200 * 1024 ** 4;
const inlineBytesMax = 4096;
const sourceFailed = '"Copy failed when reading the source."';

/** The target stopped waiting, or the server stops. */
class BrokenOff extends Error {
  override readonly name = "BrokenOff";
}

/** Fetches the bytes that copies are waiting for, a few at a time, until stopped. */
export function runTransfers(parts: TransferParts): Transfers {
  const running = new Map<string, Promise<void>>();
  let stopped = false;
  let looking = Promise.resolve();
  let cancel = (): void => {};
  const look = async (): Promise<void> => {
    for (;;) {
      if (stopped || running.size >= concurrentMax) return;
      const job = await claimTransfer(parts, new Set(running.keys()));
      if (job === undefined) return;
      const done = carryOut(parts, job, () => stopped).finally(() => {
        running.delete(job.id);
        wake();
      });
      running.set(job.id, done);
    }
  };
  const wake = (): void => {
    if (stopped) return;
    looking = looking.then(look).catch((error: unknown) => {
      parts.log.warn({ err: error }, "transfers could not be looked at; they will be again");
    });
  };
  const later = (): void => {
    cancel = parts.clock.after(lookMilliseconds, () => {
      wake();
      later();
    });
  };
  const unwatch = parts.store.watch(transferJobs.prefix([]), wake);
  wake();
  later();
  return {
    async stop() {
      stopped = true;
      unwatch();
      cancel();
      await looking;
      await Promise.all(running.values());
    },
  };
}

async function carryOut(
  parts: TransferParts,
  job: StoredTransfer,
  isStopped: () => boolean,
): Promise<void> {
  try {
    await fetchInto(parts, job, isStopped);
  } catch (error) {
    if (error instanceof BrokenOff) {
      await yieldTransfer(parts, job).catch(() => {});
      return;
    }
    parts.log.warn({ err: error, copy: job.id }, "a copy from elsewhere broke off");
    const again = job.attempts < attemptsMax;
    const description = `500 InternalServerError ${sourceFailed}`;
    const told = again
      ? yieldTransfer(parts, job)
      : endTransfer(parts, job, { ended: "failed", description });
    await told.catch(() => {});
  }
}

async function fetchInto(
  parts: TransferParts,
  job: StoredTransfer,
  isStopped: () => boolean,
): Promise<void> {
  const url = new URL(job.url);
  const headers = { ...job.headers };
  const request = { url, method: "GET", headers, host: "", remoteAddress: "" } as const;
  const answer = await parts.read(request);
  try {
    if (answer.status !== 200) {
      const description = `${answer.status} ${answer.reason} ${sourceFailed}`;
      await endTransfer(parts, job, { ended: "failed", description });
      return;
    }
    await receiveAndEnd(parts, job, answer, isStopped);
  } finally {
    answer.close();
  }
}

async function receiveAndEnd(
  parts: TransferParts,
  job: StoredTransfer,
  answer: SourceAnswer,
  isStopped: () => boolean,
): Promise<void> {
  const announced = Number(answer.headers["content-length"] ?? Number.NaN);
  const received = await parts.content.receive(watched(parts, job, answer, isStopped), {
    ...(Number.isSafeInteger(announced) ? { length: announced } : {}),
    lengthMax: transferBytesMax,
    inlineBytesMax,
    md5: false,
    crc64: true,
  });
  try {
    await endTransfer(parts, job, { ended: "success", received });
  } finally {
    parts.content.discard(received);
  }
}

async function* watched(
  parts: TransferParts,
  job: StoredTransfer,
  { body }: SourceAnswer,
  isStopped: () => boolean,
): AsyncGenerator<Uint8Array> {
  let copied = 0;
  let told = 0;
  for await (const chunk of body) {
    if (isStopped()) throw new BrokenOff("the server stops");
    yield chunk;
    copied += chunk.length;
    if (copied - told < progressBytes) continue;
    told = copied;
    if (!(await reportProgress(parts, job, copied))) throw new BrokenOff("nobody waits for it");
  }
}
