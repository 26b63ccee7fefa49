import type { Clock } from "../../base/world.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { fail } from "../../protocol/result.ts";

/** Limits of what requests process at the same time: parsed documents, transactions, listings in
 *  memory, and the requests per second of an account. A request beyond a limit waits or gets 503
 *  ServerBusy, so that the memory of the process stays bounded. */

/** Most bytes of XML and JSON documents that are parsed at the same time; small documents are not
 *  counted. A parsed document takes several times its length. */
const documentBytesMax = 8 * 1024 * 1024;

/** Limit of the bytes of table transactions that are processed at the same time: enough that some
 *  are parsed while others are flushed to disk, and few enough that short collections of the
 *  garbage collector free their objects. */
const transactionBytesMax = 640 * 1024;

/** The limiters that all services of a server share, as they share its memory. */
export interface ProcessingLimits {
  readonly documents: ByteLimiter;
  readonly transactions: ByteLimiter;
  readonly largeResponses: LargeResponseLimiter;
}

export function newProcessingLimits(clock: Clock): ProcessingLimits {
  return {
    documents: new ByteLimiter(documentBytesMax),
    transactions: new ByteLimiter(transactionBytesMax),
    largeResponses: new LargeResponseLimiter(clock),
  };
}

/** Most requests, and bytes of their bodies, that wait in one queue. Each keeps a connection and
 *  its body. */
export const waitingMax = 4096;
export const waitingBytesMax = 64 * 1024 * 1024;

interface WaitingRequest {
  readonly bytes: number;
  readonly admit: () => void;
}

/** Limits the total length of the bodies that are processed at the same time. A parsed body takes
 *  many times its length; with 100 clients at once, the garbage collector took longer to copy live
 *  objects than the work itself. */
export class ByteLimiter {
  readonly #bytesMax: number;
  readonly #waiting: WaitingRequest[] = [];
  #bytesUsed = 0;
  #bytesWaiting = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whether a request of this size must be rejected with ServerBusy because the queue is full. */
  isFullFor(bytes: number): boolean {
    if (!this.#mustWait(bytes)) return false;
    return this.#waiting.length >= waitingMax || this.#bytesWaiting + bytes > waitingBytesMax;
  }

  /** Runs `work` when the limit permits, in FIFO order; a body larger than the limit runs alone.
   *  The caller must check `isFullFor` first. */
  async within<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const admission = this.enter(bytes);
    if (admission !== undefined) await admission;
    try {
      return await work();
    } finally {
      this.leave(bytes);
    }
  }

  /** Like `within`, for work whose end the caller reports with `leave`. Returns a promise that
   *  resolves when the work may start; undefined if it may start at once. */
  enter(bytes: number): Promise<void> | undefined {
    if (!this.#mustWait(bytes)) {
      this.#bytesUsed += bytes;
      return undefined;
    }
    this.#bytesWaiting += bytes;
    return new Promise<void>((admit) => this.#waiting.push({ bytes, admit }));
  }

  leave(bytes: number): void {
    this.#bytesUsed -= bytes;
    this.#admitMore();
  }

  #mustWait(bytes: number): boolean {
    return this.#waiting.length > 0 || !this.#fits(bytes);
  }

  #fits(bytes: number): boolean {
    return this.#bytesUsed === 0 || this.#bytesUsed + bytes <= this.#bytesMax;
  }

  /** Admits waiting requests. Their bytes are counted before they run, so that no other request can
   *  start in between. */
  #admitMore(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (!this.#fits(next.bytes)) return;
      this.#waiting.shift();
      this.#bytesWaiting -= next.bytes;
      this.#bytesUsed += next.bytes;
      next.admit();
    }
  }
}

/** Large responses that are admitted per round of event-loop iterations. */
export const responsesPerRoundMax = 2;
/** Most large responses in progress: one that is read in pieces takes several rounds, and must not
 *  stop all others. */
export const responsesRunningMax = 4;
/** Longest queue: each waiting request keeps its connection. At two responses per round the last
 *  one waits for minutes, longer than most clients do. */
export const responsesWaitingMax = 4096;
/** Event-loop iterations per round: one each to open a view (a state of the store to read), to
 *  build the response and to send it. */
const iterationsPerRound = 3;

/** Admits operations with large responses a few at a time, in FIFO order. Otherwise the bodies of
 *  100 listings that arrive in one iteration would all be in memory before one is sent. */
export class LargeResponseLimiter {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  /** Number of operations admitted in the current round. */
  #admitted = 0;
  #running = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the queue is full, so that a further request must be rejected with ServerBusy. */
  get isFull(): boolean {
    return this.#waiting.length >= responsesWaitingMax;
  }

  /** Returns a promise that resolves when the operation may start; undefined if it may at once. The
   *  caller must check `isFull` first. */
  enter(): Promise<void> | undefined {
    if (!this.#hasRoom || this.#waiting.length > 0) {
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
    this.#admit();
    return undefined;
  }

  /** Ends an admitted operation; called when the response of the operation is built. */
  leave(): void {
    this.#running -= 1;
    if (this.#admitted === 0) this.#admitMore();
  }

  get #hasRoom(): boolean {
    return this.#admitted < responsesPerRoundMax && this.#running < responsesRunningMax;
  }

  #admit(): void {
    if (this.#admitted === 0) this.#afterIterations(iterationsPerRound, () => this.#beginRound());
    this.#admitted += 1;
    this.#running += 1;
  }

  #beginRound(): void {
    this.#admitted = 0;
    this.#admitMore();
  }

  #admitMore(): void {
    while (this.#hasRoom) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#admit();
      next();
    }
  }

  #afterIterations(iterations: number, run: () => void): void {
    const isLast = iterations === 1;
    this.#clock.nextIteration(isLast ? run : () => this.#afterIterations(iterations - 1, run));
  }
}

/** The part of Node's `ServerResponse` that `UnsentResponses` uses; tests have their own. */
interface OutgoingResponse {
  once(event: "close", run: () => void): unknown;
  destroy(): unknown;
}

interface Unsent {
  readonly bytes: number;
  readonly since: Ticks;
}

/** A client that has not received its response after this time may lose its connection if another
 *  one needs the memory. */
const slowSeconds = 10n;

/** The large responses in memory that clients have not received completely. Clients that request
 *  listings and do not read them must not exhaust the memory. */
export class UnsentResponses {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  /** Unsent responses, in the order in which they were started. */
  readonly #sending = new Map<OutgoingResponse, Unsent>();
  #bytes = 0;

  constructor(clock: Clock, bytesMax: number) {
    this.#clock = clock;
    this.#bytesMax = bytesMax;
  }

  /** Counts a large response until it is sent or the connection is closed. */
  add(response: OutgoingResponse, bytes: number): void {
    this.#sending.set(response, { bytes, since: this.#clock.monotonic() });
    this.#bytes += bytes;
    response.once("close", () => this.#remove(response));
  }

  /** Whether a further large response may be built. If there is no room, closes the connections of
   *  clients that have been reading for long, the oldest first. */
  makeRoom(): boolean {
    const slowSince = this.#clock.monotonic() - slowSeconds * ticksPerSecond;
    for (const [response, { since }] of this.#sending) {
      if (this.#bytes < this.#bytesMax || since > slowSince) break;
      this.#remove(response);
      response.destroy();
    }
    return this.#bytes < this.#bytesMax;
  }

  #remove(response: OutgoingResponse): void {
    const unsent = this.#sending.get(response);
    if (unsent === undefined) return;
    this.#sending.delete(response);
    this.#bytes -= unsent.bytes;
  }
}

interface Bucket {
  /** Number of requests that would be admitted now. It grows with time, so it may be a fraction. */
  tokens: number;
  refilledAt: Ticks;
}

/** Most accounts with a bucket, which bounds their memory. Beyond it all buckets are discarded:
 *  each account may then again send `perSecond` requests at once. */
const bucketsMax = 16_384;

/** Limits the requests of each account with a token bucket: `perSecond` requests at once, then as
 *  many per second. Accounts without a limit are never looked up here. */
export class RequestRates {
  readonly #buckets = new Map<string, Bucket>();
  readonly #clock: Clock;
  readonly #workerCount: number;

  /** Each of `workerCount` workers, which serve the same ports, admits an equal part of the
   *  limit. */
  constructor(clock: Clock, workerCount = 1) {
    this.#clock = clock;
    this.#workerCount = workerCount;
  }

  /** Whether a further request of the account is within the limit of the account. */
  admits(account: string, perSecond: number): boolean {
    const own = Math.max(1, perSecond / this.#workerCount);
    const now = this.#clock.monotonic();
    const bucket = this.#bucketOf(account, own, now);
    const seconds = Number(now - bucket.refilledAt) / Number(ticksPerSecond);
    bucket.tokens = Math.min(own, bucket.tokens + seconds * own);
    bucket.refilledAt = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #bucketOf(account: string, tokens: number, now: Ticks): Bucket {
    const existing = this.#buckets.get(account);
    if (existing !== undefined) return existing;
    if (this.#buckets.size >= bucketsMax) this.#buckets.clear();
    const created = { tokens, refilledAt: now };
    this.#buckets.set(account, created);
    return created;
  }
}

/** The fault of a request that cannot be served now. Clients should retry after 1 s: an engine that
 *  was unreachable is usually available again within seconds. */
export const serverBusy = fail("ServerBusy", { headers: { "Retry-After": "1" } });

/** The fault of a write that would take the account above its byte quota. The service documents
 *  this text for an account limit. Without Retry-After: time alone does not help. */
export const overQuota = fail("ServerBusy", { message: "Ingress is over the account limit." });
