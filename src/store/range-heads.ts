import type { Attempt } from "./attempt.ts";
import type { KeyText } from "./key-text.ts";

/** What an attempt found from a place on: these keys, and nothing else before `end`. */
export interface HeadRead {
  readonly start: KeyText;
  readonly texts: readonly KeyText[];
  readonly end: KeyText;
}

export interface RangeHead {
  /** Nothing lies from the start up to here, in the batch as it stands. */
  end: KeyText;
  /** Has seen that, and has to stand for it to be so. */
  readonly by: Attempt;
}

/** A batch takes from a handful of lines; whoever takes from more steps over what is gone. */
const frontsMax = 64;

/**
 * Where ranges begin after what earlier transactions of a batch have taken away from their starts.
 * Without it the hundredth get of a queue would step over the ninety-nine messages before its own.
 *
 * Example: a line holds 3, 5 and 8. One who takes 3 and removes it leaves a front just after 3; the
 * next begins there, finds 5, and leans on the first. If somebody then puts 2, the front falls back
 * to it.
 */
export class RangeHeads {
  readonly #fronts = new Map<KeyText, RangeHead>();

  at(start: KeyText): RangeHead | undefined {
    return this.#fronts.get(start);
  }

  /** The attempt is the latest of its batch, and its reads hold. */
  share(attempt: Attempt): void {
    for (const taken of attempt.takes) this.#advance(attempt, taken);
    if (this.#fronts.size === 0) return;
    for (const { kind, text } of attempt.changes.inInsertionOrder()) {
      if (kind !== "delete") this.#fallBack(text);
    }
  }

  #advance(attempt: Attempt, { start, texts, end }: HeadRead): void {
    if (this.#fronts.size >= frontsMax && !this.#fronts.has(start)) return;
    const left = texts.find((text) => attempt.changes.get(text)?.kind !== "delete");
    this.#fronts.set(start, { end: left ?? end, by: attempt });
  }

  #fallBack(text: KeyText): void {
    for (const [start, front] of this.#fronts) {
      if (start <= text && text < front.end) front.end = text;
    }
  }
}
