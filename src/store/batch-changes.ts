import type { Attempt, BatchChange } from "./attempt.ts";
import { WriteSet, changedValue, combine } from "./write-set.ts";
import type { Change } from "./write-set.ts";
import type { EngineReader, EngineWrite } from "./engine.ts";
import { RangeHeads } from "./range-heads.ts";
import type { KeyText } from "./key-text.ts";
import type { Value } from "./store.ts";

/** What those who come first in a batch are about to write. */
export class BatchChanges {
  readonly changes = new WriteSet<BatchChange>();
  readonly fronts = new RangeHeads();

  /** Puts the changes of an accepted attempt on top of those before it. */
  share(attempt: Attempt): void {
    const own = [attempt];
    for (const change of attempt.changes.inInsertionOrder()) {
      if (change.kind === "add") this.#shareAddition(attempt, change);
      else this.changes.set(by(own, change));
    }
    this.fronts.share(attempt);
  }

  /** Everybody adds to the same counters: who has is kept in one list, not in ever new ones. */
  #shareAddition(attempt: Attempt, change: Change): void {
    const earlier = this.changes.get(change.text);
    if (earlier?.kind !== "add") {
      const writers = earlier === undefined ? [attempt] : [...earlier.writers, attempt];
      this.changes.set(by(writers, combine(earlier, change)));
      return;
    }
    earlier.writers.push(attempt);
    this.changes.set(by(earlier.writers, combine(earlier, change)));
  }
}

/** Spelled out, because a transaction of a hundred changes would spread as many objects. */
function by(writers: Attempt[], change: Change): BatchChange {
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

/** What a batch writes: the last state of each key, stamped with the place in the global order of
 *  the attempt that wrote it. Counters are added to what `current` holds. */
export function writesOf(attempts: readonly Attempt[], current: EngineReader): EngineWrite[] {
  const last = new Map<KeyText, EngineWrite>();
  let revision = current.sequence;
  for (const attempt of attempts) {
    revision += 1;
    for (const change of attempt.changes.inInsertionOrder()) {
      const { key, text } = change;
      const before = change.kind === "add" ? heldBy(last, current, change) : undefined;
      last.set(text, { key, text, value: changedValue(before, change), revision });
    }
  }
  return [...last.values()];
}

function heldBy(
  last: ReadonlyMap<KeyText, EngineWrite>,
  current: EngineReader,
  { key, text }: Change,
): Value | undefined {
  const earlier = last.get(text);
  return earlier === undefined ? current.get(key, text)?.value : earlier.value;
}
