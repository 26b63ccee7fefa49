import { textOfKey, type KeyText } from "../encoding/keys.ts";
import { decodeCounter, encodeCounter, type Key, type Value } from "./store.ts";
import type { EngineReader, EngineWrite, ScanBounds } from "./engine.ts";
import { Edit, emptyTree, treePut, treeScan, type TreeNode } from "./tree.ts";
import type { Attempt, BatchChange } from "./attempt.ts";
import { keyInLog } from "./logs.ts";

/** The buffered writes of transactions: of one attempt (`WriteSet`), of a whole commit batch
 *  (`BatchChanges`), and as the engine gets them (`writesOf`). `Attempt`, `Committer` and
 *  `EngineCommits` use them. `RangeHeads` lets the transactions of a batch skip what earlier ones
 *  have deleted. */

export type Change = KeyChange | Append;

export type KeyChange =
  | { readonly kind: "put"; readonly key: Key; readonly text: KeyText; readonly value: Value }
  | { readonly kind: "delete"; readonly key: Key; readonly text: KeyText }
  | { readonly kind: "add"; readonly key: Key; readonly text: KeyText; readonly delta: bigint };

/** An append to the log with this key. The key of the entry contains the sequence of the commit, so
 *  it is not known yet. `text` replaces it: unique in the transaction, in no range that is read. */
interface Append {
  readonly kind: "append";
  readonly key: Key;
  readonly text: KeyText;
  readonly value: Value;
  readonly number: number;
}

/** Combines two changes of a key by one transaction, or by transactions committed together, into
 *  one with the same effect. */
export function combine(earlier: Change | undefined, later: KeyChange): KeyChange {
  if (earlier === undefined || later.kind !== "add") return later;
  if (earlier.kind === "add") return { ...later, delta: earlier.delta + later.delta };
  const value = changedValue(undefined, earlier);
  const { key, text } = later;
  return { kind: "put", key, text, value: encodeCounter(decodeCounter(value) + later.delta) };
}

/** The value that a key has after a change; undefined if it is deleted. */
export function changedValue(before: Value | undefined, change: Change): Value | undefined {
  if (change.kind === "put" || change.kind === "append") return change.value;
  if (change.kind === "delete") return undefined;
  return encodeCounter(decodeCounter(before) + change.delta);
}

/** The buffered changes of an attempt or of a commit batch, at most one per key. Most are only
 *  looked up by key, so their order is computed on the first range access and maintained then. */
export class WriteSet<C extends Change> {
  readonly #byText = new Map<KeyText, C>();
  #ordered: TreeNode<C> | undefined;
  #edit: Edit | undefined;

  get isEmpty(): boolean {
    return this.#byText.size === 0;
  }

  get count(): number {
    return this.#byText.size;
  }

  get(text: KeyText): C | undefined {
    return this.#byText.get(text);
  }

  set(change: C): void {
    this.#byText.set(change.text, change);
    if (this.#ordered !== undefined) this.#ordered = this.#withChange(this.#ordered, change);
  }

  /** The buffered changes in a range of keys, in the direction of the bounds. */
  scan(bounds: ScanBounds): C[] {
    return this.isEmpty ? [] : treeScan(this.#inOrder(), bounds, Infinity);
  }

  intersects(bounds: ScanBounds): boolean {
    return !this.isEmpty && treeScan(this.#inOrder(), bounds, 1).length > 0;
  }

  clear(): void {
    this.#byText.clear();
    this.#ordered = undefined;
  }

  all(): C[] {
    return this.scan({ start: "", end: "\u0100", reverse: false });
  }

  inInsertionOrder(): Iterable<C> {
    return this.#byText.values();
  }

  #inOrder(): TreeNode<C> {
    if (this.#ordered === undefined) {
      let root = emptyTree<C>();
      for (const change of this.#byText.values()) root = this.#withChange(root, change);
      this.#ordered = root;
    }
    return this.#ordered;
  }

  #withChange(root: TreeNode<C>, change: C): TreeNode<C> {
    this.#edit ??= new Edit();
    return treePut(root, change.text, change, this.#edit);
  }
}

/** The uncommitted changes of a commit batch, which its later transactions read. */
export class BatchChanges {
  readonly changes = new WriteSet<BatchChange>();
  readonly heads = new RangeHeads();

  /** Adds the changes of an attempt that is valid so far, for later transactions of the batch. */
  share(attempt: Attempt): void {
    const own = [attempt];
    for (const change of attempt.changes.inInsertionOrder()) {
      if (change.kind === "add") this.#shareAddition(attempt, change);
      else if (change.kind !== "append") this.changes.set(withWriters(own, change));
    }
    this.heads.share(attempt);
  }

  /** Combines an addition to a counter with earlier ones. All share one growing list of writers:
   *  many transactions of a batch add to the same counter, and a new list for each would cost
   *  quadratic time. */
  #shareAddition(attempt: Attempt, change: KeyChange): void {
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

/** Adds to a change the attempts that made it. Object literals instead of a spread, which is
 *  slower: a transaction may have a hundred changes. */
function withWriters(writers: Attempt[], change: KeyChange): BatchChange {
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

/** What the engine writes for a batch of attempts: the last value of each key, with the revision of
 *  its attempt. Counter additions are applied to the value in `current`. */
export function writesOf(attempts: readonly Attempt[], current: EngineReader): EngineWrite[] {
  const last = new Map<KeyText, EngineWrite>();
  let revision = current.sequence;
  for (const attempt of attempts) {
    revision += 1;
    for (const change of attempt.changes.inInsertionOrder()) {
      const { key, text } = change;
      if (change.kind === "append") {
        const appended = appendedWrite(change, revision);
        last.set(appended.text, appended);
        continue;
      }
      const before = change.kind === "add" ? valueBefore(last, current, change) : undefined;
      last.set(text, { key, text, value: changedValue(before, change), revision });
    }
  }
  return [...last.values()];
}

function appendedWrite({ key: log, number, value }: Append, revision: number): EngineWrite {
  const key = keyInLog(log, { sequence: revision, number });
  return { key, text: textOfKey(key), value, revision };
}

function valueBefore(
  last: ReadonlyMap<KeyText, EngineWrite>,
  current: EngineReader,
  { key, text }: Change,
): Value | undefined {
  const earlier = last.get(text);
  return earlier === undefined ? current.get(key, text)?.value : earlier.value;
}

/** What an attempt found with `readHead`: from `start` to `end` there are only the keys `texts`. */
export interface HeadRead {
  readonly start: KeyText;
  readonly texts: readonly KeyText[];
  readonly end: KeyText;
}

interface RangeHead {
  /** No key from the start of the range up to here exists after the batch so far. */
  end: KeyText;
  /** The attempt whose read established `end`. An attempt that starts reading here depends on
   *  it. */
  readonly establishedBy: Attempt;
}

/** Limit of the range starts whose heads a batch remembers; `readHead` of further ranges scans over
 *  the deleted entries. */
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
class RangeHeads {
  readonly #heads = new Map<KeyText, RangeHead>();

  at(start: KeyText): RangeHead | undefined {
    return this.#heads.get(start);
  }

  /** Updates the heads with the reads and changes of the attempt that follows in the batch. */
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
