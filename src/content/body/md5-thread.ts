import { Worker } from "node:worker_threads";

/** MD5 of large bodies on threads, while the event loop receives and writes them: MD5 takes 1.7 ms
 *  per MiB, almost half the cost of an upload. `data/data-stores.ts` makes the threads,
 *  `receive.ts` uses them for bodies from 512 KiB on. */

/** The MD5 of one body, whose bytes are added in order. */
export interface Md5Sum {
  /** Resolves when the bytes were read and may be overwritten. */
  update(bytes: Uint8Array): Promise<void>;
  /** Adds the last bytes and resolves to the MD5, with one message to the thread instead of two. */
  digest(last?: Uint8Array): Promise<Uint8Array>;
  /** Frees the hash of a body that will not be completed. */
  abandon(): void;
}

interface Request {
  /** Identifies the body, because a thread hashes several at a time. */
  readonly id: number;
  readonly bytes?: Uint8Array;
  readonly kind: "update" | "digest" | "abandon";
}

interface Reply {
  readonly digest?: Uint8Array;
}

/** A request that is not answered yet. Replies come in the order of the requests. */
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
    if (bytes !== undefined) sum.update(bytes);
    if (kind === "digest") parentPort.postMessage({ digest: new Uint8Array(sum.digest()) });
  });
`;

/** What `receive.ts` uses to compute the MD5 of large bodies: one thread or two. */
export interface Md5Source {
  begin(): Md5Sum;
  close(): Promise<void>;
}

/** Computes MD5 on two threads. The second is started for a body that would wait for the first:
 *  hashing a large body takes longer than all that the event loop does for it. */
export class Md5Threads implements Md5Source {
  readonly #threads: readonly [Md5Thread, Md5Thread];

  constructor(first = new Md5Thread(), second = new Md5Thread()) {
    this.#threads = [first, second];
  }

  begin(): Md5Sum {
    const [first, second] = this.#threads;
    return (second.waiting < first.waiting ? second : first).begin();
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

/** One thread, started for the first body. When it ends, for example for lack of memory, the bodies
 *  in progress fail, and the next body starts another one. */
export class Md5Thread implements Md5Source {
  #worker: Worker | undefined;
  readonly #waiters: Waiter[] = [];
  #bodies = 0;

  /** Number of requests that the thread has not answered. */
  get waiting(): number {
    return this.#waiters.length;
  }

  begin(): Md5Sum {
    this.#bodies += 1;
    const id = this.#bodies;
    const worker = (this.#worker ??= this.#start());
    return {
      update: async (bytes) => {
        await this.#ask(worker, { id, bytes, kind: "update" });
      },
      digest: async (bytes) => {
        const request = { id, kind: "digest" } as const;
        const { digest } = await this.#ask(worker, bytes ? { ...request, bytes } : request);
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
    // The thread alone must not keep the process running; the requests that wait for it do.
    worker.unref();
    worker.on("message", (reply: Reply) => this.#waiters.shift()?.resolve(reply));
    worker.on("error", (error) => this.#ended(worker, error));
    worker.on("exit", () => this.#ended(worker, undefined));
    return worker;
  }

  /** Called when the thread has ended: fails the requests that it has not answered. */
  #ended(worker: Worker, cause: Error | undefined): void {
    // An exit follows an error, and a new thread may have been started between the two events.
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiters.splice(0)) reject(threadEnded(cause));
  }
}

function threadEnded(cause?: Error): Error {
  return new Error("the MD5 thread has ended", { cause });
}
