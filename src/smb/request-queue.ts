/**
 * A frame of a connection. Frames run one after the other in order of arrival, except that
 * parallel ones overlap with each other: clients send many READs and WRITEs, and a WRITE waits for
 * the disk.
 */
export interface Job {
  readonly isParallel: boolean;
  /** The job calls `unblockQueue` when it begins to wait for another client. */
  run(unblockQueue: () => void): Promise<void>;
}

/** Frames of one connection that start in one iteration of the event loop. */
const startsTogetherMax = 32;

export class RequestQueue {
  readonly #queued: Job[] = [];
  #starts = 0;
  #running = 0;
  #barrierRuns = false;

  get length(): number {
    return this.#queued.length;
  }

  add(job: Job): void {
    this.#queued.push(job);
    this.#startNext();
  }

  #startNext(): void {
    for (;;) {
      const next = this.#queued[0];
      if (next === undefined || this.#barrierRuns) return;
      if (!next.isParallel && this.#running > 0) return;
      if (this.#starts >= startsTogetherMax) return;
      // A client may send thousands of frames at once; other connections run in between.
      if (this.#starts === 0) setImmediate(() => this.#nextIteration());
      this.#starts += 1;
      this.#queued.shift();
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
    let isCounted = true;
    const unblock = (): void => {
      if (!isCounted) return;
      isCounted = false;
      this.#running -= 1;
      if (!job.isParallel) this.#barrierRuns = false;
      this.#startNext();
    };
    void job.run(unblock).finally(unblock);
  }
}
