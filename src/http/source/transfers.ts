import { inlineWholeBytesMax } from "../../content/content-ref.ts";
import type { Clock, Log } from "../../base/world.ts";
import { Records } from "../../operation/records.ts";
import {
  claimTransfer,
  endTransfer,
  handlerOf,
  renewClaim,
  reportProgress,
  releaseTransfer,
  transferJobs,
  type TransferStore,
  type StoredTransfer,
} from "../../operation/transfer.ts";
import type { SourceResponse, SourceReader } from "./source-reader.ts";

/** Runs the stored jobs of copies whose bytes are fetched in the background (Copy Blob from another
 *  server or into another encryption scope). The server starts it; jobs of a process that ended are
 *  continued by another. */

/** The parts of the server that transfers use. */
interface TransferParts extends TransferStore {
  readonly read: SourceReader;
  readonly clock: Clock;
  readonly log: Log;
}

/** With this handle the server stops the transfers that it has started. */
export interface Transfers {
  /** Aborts running transfers. They start again after the next start of a process. */
  stop(): Promise<void>;
}

/** Transfers that one process runs at the same time, so that they leave memory and bandwidth to
 *  requests; further ones wait. */
const concurrentMax = 4;
/** Most attempts to read a source. After them the copy fails: its source may be gone. */
const attemptsMax = 3;
/** Interval in which the process renews its claims of jobs, and claims those of ended processes. */
const pollMilliseconds = 5000;
/** The number of copied bytes, which clients poll, is stored after each piece of this length: often
 *  enough for them, seldom enough for the store. */
const progressBytes = 16 * 1024 * 1024;
/** Longest source: the length of the largest blob, 200 TiB. */
const transferBytesMax = 200 * 1024 ** 4;
const sourceFailed = '"Copy failed when reading the source."';

/** Thrown if the target no longer waits for the bytes, or if the server stops. */
class TransferAborted extends Error {
  override readonly name = "TransferAborted";
}

/** Runs transfer jobs, a few at a time, until `stop`. */
export function runTransfers(parts: TransferParts): Transfers {
  const running = new Map<string, Promise<void>>();
  const state: TransferState = { stopped: false, responses: new Set() };
  let polling = Promise.resolve();
  let cancel = (): void => {};
  const claimJobs = async (): Promise<void> => {
    for (;;) {
      if (state.stopped || running.size >= concurrentMax) return;
      const job = await claimTransfer(parts, new Set(running.keys()));
      if (job === undefined) return;
      const done = runTransfer(parts, job, state).finally(() => {
        running.delete(job.id);
        wake();
      });
      running.set(job.id, done);
    }
  };
  /** Whether a search for jobs has not begun yet: it will see every change until now. */
  let isWaiting = false;
  const wake = (): void => {
    if (state.stopped || isWaiting) return;
    isWaiting = true;
    const search = (): Promise<void> => {
      isWaiting = false;
      return claimJobs();
    };
    polling = polling.then(search).catch((error: unknown) => {
      parts.log.warn({ err: error }, "polling for transfer jobs failed; retrying in 5 s");
    });
  };
  const schedulePoll = (): void => {
    cancel = parts.clock.after(pollMilliseconds, () => {
      for (const id of running.keys()) void renewClaim(parts, id).catch(() => {});
      wake();
      schedulePoll();
    });
  };
  const unwatch = parts.store.watch(transferJobs.prefix([]), wake, { isBackground: true });
  wake();
  schedulePoll();
  return {
    async stop() {
      state.stopped = true;
      unwatch();
      cancel();
      await polling;
      for (const response of state.responses) response.close();
      await Promise.all(running.values());
    },
  };
}

/** What running transfers share: whether they must stop, and the responses to close then. */
interface TransferState {
  stopped: boolean;
  readonly responses: Set<SourceResponse>;
}

async function runTransfer(
  parts: TransferParts,
  job: StoredTransfer,
  state: TransferState,
): Promise<void> {
  try {
    await fetchInto(parts, job, state);
  } catch (error) {
    if (error instanceof TransferAborted || state.stopped) {
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
  state: TransferState,
): Promise<void> {
  if (job.isOwnContent === true) return encryptAgain(parts, job, state);
  const url = new URL(job.url);
  const headers = { ...job.headers };
  const requester = { host: "", remoteAddress: "", secure: false, ...job.own };
  const request = { url, method: "GET", headers, ...requester } as const;
  const response = await parts.read(request);
  state.responses.add(response);
  try {
    if (state.stopped) throw new TransferAborted("the server stops");
    if (response.status !== 200) {
      const description = `${response.status} ${response.reason} ${sourceFailed}`;
      await endTransfer(parts, job, { ended: "failed", description });
      return;
    }
    await receiveAndEnd(parts, job, response);
  } finally {
    state.responses.delete(response);
    response.close();
  }
}

/** Stores the content of the target again, encrypted with the key of its scope. */
async function encryptAgain(
  parts: TransferParts,
  job: StoredTransfer,
  state: TransferState,
): Promise<void> {
  const { store, content } = parts;
  const { content: contentOf } = handlerOf(parts.handlers, job);
  const reader = await store.snapshot(async (view) => {
    const ref = await contentOf?.(new Records(view, content), job);
    return ref && content.open(view, ref);
  });
  if (reader === undefined) {
    await endTransfer(parts, job, { ended: "failed", description: sourceFailed });
    return;
  }
  const headers = { "content-length": String(reader.length) };
  try {
    if (state.stopped) throw new TransferAborted("the server stops");
    await receiveAndEnd(parts, job, { headers, body: reader.read(0, reader.length) });
  } finally {
    reader.close();
  }
}

async function receiveAndEnd(
  parts: TransferParts,
  job: StoredTransfer,
  response: Pick<SourceResponse, "body" | "headers">,
): Promise<void> {
  const announced = Number(response.headers["content-length"] ?? Number.NaN);
  const { account, encryptionScope: name } = job;
  const isScoped = account !== undefined && name !== undefined;
  const encryption = isScoped ? parts.content.scopeKeys?.begin({ account, name }) : undefined;
  const received = await parts.content.receive(withProgress(parts, job, response), {
    ...(Number.isSafeInteger(announced) ? { length: announced } : {}),
    lengthMax: transferBytesMax,
    inlineBytesMax: inlineWholeBytesMax,
    md5: false,
    crc64: true,
    encryption,
  });
  try {
    await endTransfer(parts, job, { ended: "success", received });
  } finally {
    parts.content.discard(received);
  }
}

async function* withProgress(
  parts: TransferParts,
  job: StoredTransfer,
  { body }: Pick<SourceResponse, "body">,
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
