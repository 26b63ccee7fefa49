import type { Change, Changes } from "./changes.ts";
import type { KeyText } from "./key-text.ts";

/**
 * The keys that transactions with a condition are about to change. Who reads one of them now would
 * learn what is as good as outdated: a client that just wrote would always be ahead of those who
 * have to read first, and of many who change one record in a loop only one would ever get through.
 */
export class Contests {
  #gathering = new Contest();
  #committing: Contest | undefined;

  get isEmpty(): boolean {
    return this.#gathering.texts.size === 0 && this.#committing === undefined;
  }

  add(changes: Changes<Change>): void {
    for (const { text } of changes.all()) this.#gathering.texts.add(text);
  }

  /** Resolves when it is known what became of the key; undefined if nobody is about to change it. */
  over(text: KeyText): Promise<void> | undefined {
    for (const contest of [this.#gathering, this.#committing]) {
      if (contest?.texts.has(text) === true) return contest.over;
    }
    return undefined;
  }

  /** Those who have come so far are committed now. */
  begin(): void {
    if (this.#gathering.texts.size === 0) return;
    this.#committing = this.#gathering;
    this.#gathering = new Contest();
  }

  end(): void {
    this.#committing?.end();
    this.#committing = undefined;
  }
}

class Contest {
  readonly texts = new Set<KeyText>();
  readonly over: Promise<void>;
  end!: () => void;

  constructor() {
    this.over = new Promise((resolve) => {
      this.end = resolve;
    });
  }
}
