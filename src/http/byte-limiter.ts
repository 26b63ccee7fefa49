/** How many may wait for room, and with how much: each holds its connection and its body. */
export const waitingMax = 4096;
export const waitingBytesMax = 64 * 1024 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

/**
 * Bounds how much is being worked on at once, by the bytes of the bodies. What comes of a body in
 * parts is many times its size while it is on its way; when all of a hundred clients' are, the
 * garbage collector spends more time on copying what is alive than the work itself takes.
 */
export class ByteLimiter {
  readonly #bytesMax: number;
  readonly #waiting: Waiting[] = [];
  #bytesUsed = 0;
  #bytesWaiting = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Whoever comes with so much now had better come again later. */
  isFullFor(bytes: number): boolean {
    if (!this.#mustWait(bytes)) return false;
    return this.#waiting.length >= waitingMax || this.#bytesWaiting + bytes > waitingBytesMax;
  }

  /** In the order of asking; one that is larger than all the room is let in alone. Not to be asked
   *  by whom it is full for. */
  async within<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const entrance = this.enter(bytes);
    if (entrance !== undefined) await entrance;
    try {
      return await work();
    } finally {
      this.leave(bytes);
    }
  }

  /** As `within`, for work that ends elsewhere. Undefined if it may begin at once. */
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

  /** Their room is taken before they run, so that nobody can come in between. */
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
