/** What one turn of the event loop may make at most of answers that can be megabytes long. */
export const bulkyAnswersMax = 2;
/** How many may wait: each holds a request and its connection, of which nobody else counts how many
 *  there are. At a few turns a pair, those at the end of the line would wait for minutes. */
export const bulkyWaitingMax = 4096;
/** One to see a state, one to answer, one for the answer to leave. */
const turnsNeeded = 3;

/**
 * Lets operations with long answers go a few at a time. Whoever asks in one turn is answered in one
 * turn; of a hundred listings at once all bodies would be in memory before the first byte has left.
 */
export class BulkTurns {
  readonly #waiting: (() => void)[] = [];
  #admitted = 0;

  /** Whoever comes now had better come again later. */
  get isFull(): boolean {
    return this.#waiting.length >= bulkyWaitingMax;
  }

  /** Undefined if it may go on at once. Not to be asked while full. */
  enter(): Promise<void> | undefined {
    if (this.#admitted >= bulkyAnswersMax) {
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
    if (this.#admitted === 0) afterTurns(turnsNeeded, () => this.#admitMore());
    this.#admitted += 1;
    return undefined;
  }

  #admitMore(): void {
    const next = this.#waiting.splice(0, bulkyAnswersMax);
    this.#admitted = next.length;
    if (next.length > 0) afterTurns(turnsNeeded, () => this.#admitMore());
    for (const admit of next) admit();
  }
}

function afterTurns(turns: number, run: () => void): void {
  setImmediate(turns === 1 ? run : () => afterTurns(turns - 1, run));
}
