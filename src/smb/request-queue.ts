/**
 * The work of one frame of a connection. Frames run in order of arrival, one after the other.
 * Adjacent frames with `isParallel` run at the same time: clients send many READs and WRITEs, and a
 * WRITE waits for the disk.
 */
export interface Job {
  readonly isParallel: boolean;
  /** Upper bound of the bytes that the job holds in memory. */
  readonly bytes: number;
  /** The job calls `unblockQueue` when it begins to wait for another client, so that later frames
   *  can run. */
  run(unblockQueue: () => void): Promise<void>;
  /** Called instead of `run` if the connection is closed before the job starts. */
  discard(): void;
}

/** Frames of one connection that start in one iteration of the event loop. */
const startsTogetherMax = 32;

/** The frames of one connection that have not started. */
export class RequestQueue {
  readonly #queued: Job[] = [];
  #starts = 0;
  #running = 0;
  #barrierRuns = false;
  readonly #hasRoomFor: (bytes: number) => boolean;

  /** `hasRoomFor`: whether a job of this size may start now. If not, `wake` must be called when it
   *  may. */
  constructor(hasRoomFor: (bytes: number) => boolean) {
    this.#hasRoomFor = hasRoomFor;
  }

  get length(): number {
    return this.#queued.length;
  }

  add(job: Job): void {
    this.#queued.push(job);
    this.#startNext();
  }

  /** Discards the jobs that have not started. */
  close(): void {
    for (const job of this.#queued.splice(0)) job.discard();
  }

  /** Starts jobs that had no room before. */
  wake(): void {
    this.#startNext();
  }

  #startNext(): void {
    for (;;) {
      const next = this.#queued[0];
      if (next === undefined || this.#barrierRuns) return;
      if (!next.isParallel && this.#running > 0) return;
      if (this.#starts >= startsTogetherMax) return;
      if (!this.#hasRoomFor(next.bytes)) return;
      // A client may send thousands of frames at once; a pause lets other connections run.
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
