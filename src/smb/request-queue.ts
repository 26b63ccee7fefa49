/**
 * The order in which a connection's messages run: as they came, one after the other, except that
 * reads and writes run side by side, because clients send many and a write waits for the disk. What
 * waits for somebody else steps aside.
 */
export interface Job {
  readonly isParallel: boolean;
  /** `stepAside` lets the messages behind it go on. */
  run(unblockQueue: () => void): Promise<void>;
}

/** Messages of a connection that start in one iteration of the event loop. */
const startsTogetherMax = 32;

export class RequestQueue {
  readonly #waiting: Job[] = [];
  #starts = 0;
  #running = 0;
  #barrierRuns = false;

  get length(): number {
    return this.#waiting.length;
  }

  add(job: Job): void {
    this.#waiting.push(job);
    this.#startNext();
  }

  #startNext(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined || this.#barrierRuns) return;
      if (!next.isParallel && this.#running > 0) return;
      if (this.#starts >= startsTogetherMax) return;
      // A client may send thousands of messages at once: others get their turn in between.
      if (this.#starts === 0) setImmediate(() => this.#nextIteration());
      this.#starts += 1;
      this.#waiting.shift();
      this.#start(next);
    }
  }

  #nextIteration(): void {
    this.#starts = 0;
    this.#startNext();
  }

  #start(job: Job): void {
    this.#running += 1;
    this.#barrierRuns = !job.isParallel;
    let counts = true;
    const stepAside = (): void => {
      if (!counts) return;
      counts = false;
      this.#running -= 1;
      if (!job.isParallel) this.#barrierRuns = false;
      this.#startNext();
    };
    void job.run(stepAside).finally(stepAside);
  }
}
