import { inlineWholeBytesMax } from "../../content/content-ref.ts";
import type { Clock, Log } from "../../base/world.ts";
import {
  claimTransfer,
  endTransfer,
  renewClaim,
  reportProgress,
  releaseTransfer,
  type TransferStore,
} from "../../operation/transfer.ts";
import { transferJobs, type StoredTransfer } from "../../operation/transfer-jobs.ts";
import type { SourceResponse, SourceReader } from "./source-reader.ts";

/** The parts of the server that transfers use. */
interface TransferParts extends TransferStore {
  readonly read: SourceReader;
  readonly clock: Clock;
  readonly log: Log;
}

/** The running transfers of a process. */
export interface Transfers {
  /** Aborts running transfers. They start again after the next start of a process. */
  stop(): Promise<void>;
}

/** Transfers that one process runs at the same time; further ones wait. */
const concurrentMax = 4;
/** Most attempts to read a source; then the copy fails. */
const attemptsMax = 3;
/** Interval in which claims are renewed, and in which jobs of ended processes are claimed. */
const pollMilliseconds = 5000;
/** The progress is stored each time that this many bytes were copied. */
const progressBytes = 16 * 1024 * 1024;
/** Limit of the length of a source: that of the largest blob. */
const transferBytesMax = 200 * 1024 ** 4;
const sourceFailed = '"Copy failed when reading the source."';

/** Thrown if the target no longer waits for the bytes, or if the server stops. */
class TransferAborted extends Error {
  override readonly name = "BrokenOff";
}

/** Runs transfer jobs, a few at a time, until `stop`. */
export function runTransfers(parts: TransferParts): Transfers {
  const running = new Map<string, Promise<void>>();
  const life: TransferState = { stopped: false, answers: new Set() };
  let looking = Promise.resolve();
  let cancel = (): void => {};
  const look = async (): Promise<void> => {
    for (;;) {
      if (life.stopped || running.size >= concurrentMax) return;
      const job = await claimTransfer(parts, new Set(running.keys()));
      if (job === undefined) return;
      const done = runTransfer(parts, job, life).finally(() => {
        running.delete(job.id);
        wake();
      });
      running.set(job.id, done);
    }
  };
  const wake = (): void => {
    if (life.stopped) return;
    looking = looking.then(look).catch((error: unknown) => {
      parts.log.warn({ err: error }, "polling for transfer jobs failed; retrying in 5 s");
    });
  };
  const later = (): void => {
    cancel = parts.clock.after(pollMilliseconds, () => {
      for (const id of running.keys()) void renewClaim(parts, id).catch(() => {});
      wake();
      later();
    });
  };
  const unwatch = parts.store.watch(transferJobs.prefix([]), wake, { isBackground: true });
  wake();
  later();
  return {
    async stop() {
      life.stopped = true;
      unwatch();
      cancel();
      await looking;
      for (const answer of life.answers) answer.close();
      await Promise.all(running.values());
    },
  };
}

/** The state of the transfers of one process. */
interface TransferState {
  stopped: boolean;
  readonly answers: Set<SourceResponse>;
}

async function runTransfer(
  parts: TransferParts,
  job: StoredTransfer,
  life: TransferState,
): Promise<void> {
  try {
    await fetchInto(parts, job, life);
  } catch (error) {
    if (error instanceof TransferAborted || life.stopped) {
      // An attempt that ends because the server stops is not counted.
      await releaseTransfer(parts, { ...job, attempts: job.attempts - 1 }).catch(() => {});
      return;
    }
    parts.log.warn({ err: error, copy: job.id }, "fetching a copy source failed; retrying");
    const again = job.attempts < attemptsMax;
    const description = `500 InternalServerError ${sourceFailed}`;
    const stored = again
      ? releaseTransfer(parts, job)
      : endTransfer(parts, job, { ended: "failed", description });
    await stored.catch(() => {});
  }
}

async function fetchInto(
  parts: TransferParts,
  job: StoredTransfer,
  life: TransferState,
): Promise<void> {
  const url = new URL(job.url);
  const headers = { ...job.headers };
  const asker = { host: "", remoteAddress: "", secure: false, ...job.own };
  const request = { url, method: "GET", headers, ...asker } as const;
  const answer = await parts.read(request);
  life.answers.add(answer);
  try {
    if (life.stopped) throw new TransferAborted("the server stops");
    if (answer.status !== 200) {
      const description = `${answer.status} ${answer.reason} ${sourceFailed}`;
      await endTransfer(parts, job, { ended: "failed", description });
      return;
    }
    await receiveAndEnd(parts, job, answer);
  } finally {
    life.answers.delete(answer);
    answer.close();
  }
}

async function receiveAndEnd(
  parts: TransferParts,
  job: StoredTransfer,
  answer: SourceResponse,
): Promise<void> {
  const announced = Number(answer.headers["content-length"] ?? Number.NaN);
  const received = await parts.content.receive(watched(parts, job, answer), {
    ...(Number.isSafeInteger(announced) ? { length: announced } : {}),
    lengthMax: transferBytesMax,
    inlineBytesMax: inlineWholeBytesMax,
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
  { body }: SourceResponse,
): AsyncGenerator<Uint8Array> {
  let copied = 0;
  let reportedBytes = 0;
  for await (const chunk of body) {
    yield chunk;
    copied += chunk.length;
    if (copied - reportedBytes < progressBytes) continue;
    reportedBytes = copied;
    if (!(await reportProgress(parts, job, copied)))
      throw new TransferAborted("the target no longer waits for these bytes");
  }
}
