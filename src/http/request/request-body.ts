import type { IncomingMessage } from "node:http";
import type { Body } from "../../content/content.ts";
import type { MemoryBudget } from "../../base/memory-budget.ts";
import { freeBytes, newBytes } from "../../process/bytes.ts";
import { setReading, type BodyProgress } from "../limits/connections.ts";
import type { RequestMemory } from "../wire.ts";
import type { ByteLimiter } from "../limits/processing-limits.ts";

/** The body of a request on a connection, with backpressure and with the memory that the request
 *  holds. `http/handler.ts` creates one per request. */

/** Thrown if the client closed the connection before the end of the body. */
export class BodyAborted extends Error {
  override readonly name = "BodyAborted";
}

/** Thrown if the client sends its body too slowly or has stopped sending. */
export class BodyTooSlow extends Error {
  override readonly name = "BodyTooSlow";
}

const end: IteratorResult<Uint8Array> = { done: true, value: undefined };

/** The body of a request as chunks, with backpressure. Node's own iterator does the same for any
 *  stream, at several times the cost. */
export class RequestBody implements Body, BodyProgress, RequestMemory {
  readonly #request: IncomingMessage;
  readonly #budget: MemoryBudget | undefined;
  #heldBytes = 0;
  #leave: (() => void) | undefined;
  #fail: ((error: Error) => void) | undefined;
  isWaiting = false;
  bytes = 0;

  constructor(request: IncomingMessage, budget?: MemoryBudget) {
    this.#request = request;
    this.#budget = budget;
  }

  hold(bytes: number): boolean {
    if (this.#budget?.tryReserve(bytes) === false) return false;
    this.#heldBytes += bytes;
    return true;
  }

  async enter(limiter: ByteLimiter, bytes: number): Promise<void> {
    await limiter.enter(bytes);
    this.#leave = () => limiter.leave(bytes);
  }

  /** Frees the counted memory; called at the end of the request. */
  release(): void {
    if (this.#heldBytes > 0) this.#budget?.release(this.#heldBytes);
    this.#heldBytes = 0;
    this.#leave?.();
    this.#leave = undefined;
  }

  end(): void {
    this.#fail?.(new BodyTooSlow("the client sends its body too slowly"));
  }

  begin(fail: (error: Error) => void): void {
    this.#fail = fail;
    setReading(this.#request.socket, this);
  }

  finish(): void {
    this.isWaiting = false;
    this.#fail = undefined;
    setReading(this.#request.socket, undefined);
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return new BodyChunks(this.#request, this);
  }

  discard(chunk: Uint8Array): void {
    freeBytes(chunk);
  }

  whole(length: number): Promise<Uint8Array> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      if (isLost(request)) {
        reject(new BodyAborted("closed"));
        return;
      }
      const bytes = newBytes(length);
      let filled = 0;
      let hasEnded = false;
      // Frees the memory at once: many dropped uploads must not wait for a garbage collection.
      const fail = (error: Error) => {
        if (hasEnded) return;
        hasEnded = true;
        freeBytes(bytes);
        reject(error);
      };
      this.begin(fail);
      this.isWaiting = true;
      request.on("data", (chunk: Uint8Array) => {
        // The chunk always fits: the HTTP parser ends the body at its declared length.
        if (!hasEnded && filled + chunk.length <= length) bytes.set(chunk, filled);
        filled += chunk.length;
        this.bytes = filled;
      });
      request.on("end", () => {
        if (hasEnded) return;
        hasEnded = true;
        this.finish();
        resolve(filled < length ? bytes.subarray(0, filled) : bytes);
      });
      request.on("error", (cause) => fail(new BodyAborted(cause.message, { cause })));
      // Every request emits `close`. The error is created only if the body has not ended.
      request.on("close", () => {
        if (!hasEnded) fail(new BodyAborted("the client closed the connection in mid-body"));
      });
    });
  }
}

/** Whether unread data was lost with the connection, so that no `end` event will follow. */
function isLost(request: IncomingMessage): boolean {
  return request.destroyed && !request.readableEnded;
}

class BodyChunks implements AsyncIterator<Uint8Array> {
  readonly #request: IncomingMessage;
  readonly #body: RequestBody;
  readonly #chunks: Uint8Array[] = [];
  #hasEnded = false;
  #failure: Error | undefined;
  #waiting: PendingRead | undefined;

  constructor(request: IncomingMessage, body: RequestBody) {
    this.#request = request;
    this.#body = body;
    body.begin(this.#fail);
    if (isLost(request)) this.#fail(new BodyAborted("closed"));
    request.on("data", this.#take);
    request.on("end", this.#finish);
    request.on("error", this.#abort);
    request.on("close", this.#close);
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return Promise.resolve({ done: false, value: chunk });
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#hasEnded) return Promise.resolve(end);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#body.isWaiting = true;
      this.#request.resume();
    });
  }

  /** Called if the reader stops before the end, for example because the body is too long; the rest
   *  stays unread. */
  return(): Promise<IteratorResult<Uint8Array>> {
    this.#request.off("data", this.#take).off("end", this.#finish).off("close", this.#close);
    this.#request.pause();
    this.#body.finish();
    return Promise.resolve(end);
  }

  readonly #take = (chunk: Uint8Array): void => {
    const waiting = this.#waiting;
    this.#body.bytes += chunk.length;
    this.#body.isWaiting = false;
    if (waiting === undefined) {
      this.#chunks.push(chunk);
      this.#request.pause();
      return;
    }
    this.#waiting = undefined;
    waiting.resolve({ done: false, value: chunk });
  };

  readonly #finish = (): void => {
    this.#hasEnded = true;
    this.#body.finish();
    this.#waiting?.resolve(end);
    this.#waiting = undefined;
  };

  readonly #fail = (error: Error): void => {
    this.#failure ??= error;
    this.#waiting?.reject(this.#failure);
    this.#waiting = undefined;
  };

  readonly #abort = (cause: Error): void => {
    this.#fail(new BodyAborted(cause.message, { cause }));
  };

  readonly #close = (): void => {
    if (!this.#hasEnded)
      this.#fail(new BodyAborted("the client closed the connection in mid-body"));
  };
}

interface PendingRead {
  readonly resolve: (result: IteratorResult<Uint8Array>) => void;
  readonly reject: (reason: Error) => void;
}
