import { Worker } from "node:worker_threads";

/** The MD5 of one body, whose bytes are added in order. */
export interface Md5Sum {
  /** Resolves when the bytes were read and may be overwritten. */
  update(bytes: Uint8Array): Promise<void>;
  digest(): Promise<Uint8Array>;
  /** Frees the state of a body that will not be completed. */
  abandon(): void;
}

/** Size of the shared buffers. */
export const sharedBufferBytes = 256 * 1024;
/** Unused shared buffers that are kept: allocating one costs as much as hashing a part of it. */
const freeBuffersMax = 16;

interface Request {
  /** Identifies the body. */
  readonly id: number;
  readonly bytes?: Uint8Array;
  readonly kind: "update" | "digest" | "abandon";
}

interface Reply {
  readonly digest?: Uint8Array;
}

interface Waiter {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** The program of the thread. It is a text and uses only modules of Node, because a file would have
 *  another path in each form of this package. Requests are answered in their order. */
const program = `
const { createHash } = require("node:crypto");
const { parentPort } = require("node:worker_threads");
const sums = new Map();
parentPort.on("message", ({ id, bytes, kind }) => {
  const sum = sums.get(id) ?? createHash("md5");
  if (kind === "update") {
    sums.set(id, sum.update(bytes));
    parentPort.postMessage({});
    return;
  }
  sums.delete(id);
  if (kind === "digest") parentPort.postMessage({ digest: new Uint8Array(sum.digest()) });
});
`;

/** Computes the MD5 of large bodies on a thread, while the event loop receives and writes them: MD5
 *  takes 1.5 ms per MiB, a third of the cost of an upload. The thread is started for the first such
 *  body. */
export class Md5Thread {
  #worker: Worker | undefined;
  readonly #waiters: Waiter[] = [];
  readonly #free: Uint8Array[] = [];
  #bodies = 0;

  /** A buffer that the thread can read without a copy. */
  acquire(): Uint8Array {
    return this.#free.pop() ?? Buffer.from(new SharedArrayBuffer(sharedBufferBytes));
  }

  release(buffer: Uint8Array): void {
    if (this.#free.length < freeBuffersMax) this.#free.push(buffer);
  }

  begin(): Md5Sum {
    this.#bodies += 1;
    const id = this.#bodies;
    const worker = (this.#worker ??= this.#start());
    return {
      update: async (bytes) => {
        await this.#ask(worker, { id, bytes, kind: "update" });
      },
      digest: async () => {
        const { digest } = await this.#ask(worker, { id, kind: "digest" });
        if (digest === undefined) throw new Error("the reply of the MD5 thread has no digest");
        return digest;
      },
      abandon: () => worker.postMessage({ id, kind: "abandon" } satisfies Request, []),
    };
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #ask(worker: Worker, request: Request): Promise<Reply> {
    if (worker !== this.#worker) return Promise.reject(threadEnded());
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      worker.postMessage(request, []);
    });
  }

  #start(): Worker {
    const worker = new Worker(program, { eval: true });
    // The requests that wait for the thread keep the process running.
    worker.unref();
    worker.on("message", (reply: Reply) => this.#waiters.shift()?.resolve(reply));
    worker.on("error", (error) => this.#ended(worker, error));
    worker.on("exit", () => this.#ended(worker, undefined));
    return worker;
  }

  /** Fails the bodies in progress. The next body starts a new thread. */
  #ended(worker: Worker, cause: Error | undefined): void {
    // After an error there is an exit, too, and a new thread may have been started meanwhile.
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiters.splice(0)) reject(threadEnded(cause));
  }
}

function threadEnded(cause?: Error): Error {
  return new Error("the MD5 thread has ended", { cause });
}
