/** What one turn of the event loop may make at most of answers that can be megabytes long. */
export const bulkyAnswersMax = 2;
/** What is under way at most: an answer that is read in pieces takes more turns than others. */
export const bulkyRunningMax = 4;
/** How many may wait: each holds a request and its connection, of which nobody else counts how many
 *  there are. At a few turns a pair, those at the end of the line would wait for minutes. */
export const bulkyWaitingMax = 4096;
/** One to see a state, one to answer, one for the answer to leave. */
const turnsNeeded = 3;

/**
 * Lets operations with long answers go a few at a time. Whoever asks in one turn is answered in one
 * turn; of a hundred listings at once all bodies would be in memory before the first byte has left.
 */
export class LargeResponseLimiter {
  readonly #waiting: (() => void)[] = [];
  /** In the current turns. */
  #admitted = 0;
  #running = 0;

  /** Whoever comes now had better come again later. */
  get isFull(): boolean {
    return this.#waiting.length >= bulkyWaitingMax;
  }

  /** Undefined if it may go on at once. Not to be asked while full. */
  enter(): Promise<void> | undefined {
    if (!this.#hasRoom || this.#waiting.length > 0) {
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
    this.#admit();
    return undefined;
  }

  /** For each that entered, when its answer is made. */
  leave(): void {
    this.#running -= 1;
    if (this.#admitted === 0) this.#admitMore();
  }

  get #hasRoom(): boolean {
    return this.#admitted < bulkyAnswersMax && this.#running < bulkyRunningMax;
  }

  #admit(): void {
    if (this.#admitted === 0) afterTurns(turnsNeeded, () => this.#beginTurns());
    this.#admitted += 1;
    this.#running += 1;
  }

  #beginTurns(): void {
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
}

function afterTurns(turns: number, run: () => void): void {
  setImmediate(turns === 1 ? run : () => afterTurns(turns - 1, run));
}
