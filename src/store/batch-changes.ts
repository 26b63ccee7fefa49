import type { Attempt, BatchChange } from "./attempt.ts";
import type { PendingAttempt } from "./commit-batch.ts";
import { WriteSet, changedValue, combine } from "./write-set.ts";
import type { Change } from "./write-set.ts";
import type { EngineReader, EngineWrite } from "./engine.ts";
import { RangeHeads } from "./range-heads.ts";
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
