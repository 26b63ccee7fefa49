import type { Attempt, BatchChange } from "./attempt.ts";
import type { PendingAttempt } from "./commit-batch.ts";
import { WriteSet, changedValue, combine } from "./write-set.ts";
import type { Change } from "./write-set.ts";
import type { EngineReader, EngineWrite } from "./engine.ts";
import type { KeyText } from "./key-text.ts";
import type { Value } from "./store.ts";

/** The uncommitted changes of a commit batch, which its later transactions read. */
export class BatchChanges {
  readonly changes = new WriteSet<BatchChange>();
  readonly heads = new RangeHeads();

  /** Applies the changes of an accepted attempt on top of those before it. */
  share(attempt: Attempt): void {
    const own = [attempt];
    for (const change of attempt.changes.inInsertionOrder()) {
      if (change.kind === "add") this.#shareAddition(attempt, change);
      else this.changes.set(withWriters(own, change));
    }
    this.heads.share(attempt);
  }

  /** Combines an addition with an earlier one. The writers share one growing list: many
   *  transactions of a batch add to the same counter, and a new list for each would cost quadratic
   *  time. */
  #shareAddition(attempt: Attempt, change: Change): void {
    const earlier = this.changes.get(change.text);
    if (earlier?.kind !== "add") {
      const writers = earlier === undefined ? [attempt] : [...earlier.writers, attempt];
      this.changes.set(withWriters(writers, combine(earlier, change)));
      return;
    }
    earlier.writers.push(attempt);
    this.changes.set(withWriters(earlier.writers, combine(earlier, change)));
  }
}

/** Object literals instead of a spread, which is slower, and a transaction may have a hundred
 *  changes. */
function withWriters(writers: Attempt[], change: Change): BatchChange {
  const { key, text } = change;
  switch (change.kind) {
    case "put":
      return { kind: "put", key, text, value: change.value, writers };
    case "delete":
      return { kind: "delete", key, text, writers };
    case "add":
      return { kind: "add", key, text, delta: change.delta, writers };
    default:
      return change satisfies never;
  }
}

/** The writes of a batch: the last value of each key, with the revision of the attempt that wrote
 *  it. Counter additions are applied to the value in `current`. */
export function writesOf(
  attempts: readonly PendingAttempt[],
  current: EngineReader,
): EngineWrite[] {
  const last = new Map<KeyText, EngineWrite>();
  let revision = current.sequence;
  for (const attempt of attempts) {
    revision += 1;
    for (const change of attempt.changes.inInsertionOrder()) {
      const { key, text } = change;
      const before = change.kind === "add" ? valueBefore(last, current, change) : undefined;
      last.set(text, { key, text, value: changedValue(before, change), revision });
    }
  }
  return [...last.values()];
}

function valueBefore(
  last: ReadonlyMap<KeyText, EngineWrite>,
  current: EngineReader,
  { key, text }: Change,
): Value | undefined {
  const earlier = last.get(text);
  return earlier === undefined ? current.get(key, text)?.value : earlier.value;
}

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
