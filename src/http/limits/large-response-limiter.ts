import type { Clock } from "../../base/world.ts";

/** Large responses that are admitted per round of event-loop iterations. */
export const responsesPerRoundMax = 2;
/** Large responses in progress: one that is read in pieces takes several iterations. */
export const responsesRunningMax = 4;
/** Longest queue: each waiting request keeps its connection. At a few iterations per pair, the last
 *  one waits for minutes. */
export const responsesWaitingMax = 4096;
/** Iterations per round: open a view, build the response, send it. */
const iterationsPerRound = 3;

/** Admits operations with large responses a few at a time, in FIFO order. Otherwise the bodies of
 *  100 listings that arrive in one iteration would all be in memory before the first byte is
 *  sent. */
export class LargeResponseLimiter {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  /** Operations admitted in the current round. */
  #admitted = 0;
  #running = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a further request must be rejected with ServerBusy. */
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

  /** Called for each admitted operation when its response is built. */
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
