import type { Attempt } from "./attempt.ts";
import type { KeyText } from "./key-text.ts";

/** The result of a head read: from `start` to `end` there are only the keys `texts`. */
export interface HeadRead {
  readonly start: KeyText;
  readonly texts: readonly KeyText[];
  readonly end: KeyText;
}

export interface RangeHead {
  /** No key from the range start up to here exists, given the batch so far. */
  end: KeyText;
  /** The attempt whose read established `end`. An attempt that starts reading here depends on
   *  it. */
  readonly establishedBy: Attempt;
}

/** Range heads per batch. Head reads of further ranges scan over the deleted entries. */
const headsMax = 64;

/**
 * For each range start, the first key that earlier transactions of the batch have not deleted.
 * Without it the nth Get Messages of a batch rescans the n − 1 messages before it. It makes get and
 * delete of messages a third cheaper (docs/adr/011-range-heads.md).
 *
 * Example: a queue holds 3, 5 and 8. A transaction that reads 3 and deletes it moves the head to
 * just after 3. The next one starts there, finds 5 and depends on the first. If a transaction then
 * puts 2, the head moves back to 2.
 */
export class RangeHeads {
  readonly #heads = new Map<KeyText, RangeHead>();

  at(start: KeyText): RangeHead | undefined {
    return this.#heads.get(start);
  }

  /** Updates the heads with the reads and changes of an accepted attempt, the latest of its
   *  batch. */
  share(attempt: Attempt): void {
    for (const read of attempt.headReads) this.#advance(attempt, read);
    if (this.#heads.size === 0) return;
    for (const { kind, text } of attempt.changes.inInsertionOrder()) {
      if (kind !== "delete") this.#moveBack(text);
    }
  }

  #advance(attempt: Attempt, { start, texts, end }: HeadRead): void {
    if (this.#heads.size >= headsMax && !this.#heads.has(start)) return;
    const remaining = texts.find((text) => attempt.changes.get(text)?.kind !== "delete");
    this.#heads.set(start, { end: remaining ?? end, establishedBy: attempt });
  }

  #moveBack(text: KeyText): void {
    for (const [start, head] of this.#heads) {
      if (start <= text && text < head.end) head.end = text;
    }
  }
}
