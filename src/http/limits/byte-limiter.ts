/** Limits of the queue, because each waiting request keeps its connection and its body. */
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

  /** As `within`, for work whose end the caller reports with `leave`. Returns a promise that
   *  resolves when the work may start; undefined if it may at once. */
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
