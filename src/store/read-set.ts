import type { EngineReader } from "./engine.ts";
import type { KeyText } from "./key-text.ts";
import type { Key } from "./store.ts";
import type { Change, WriteSet } from "./write-set.ts";

/** A key that an attempt read, and its revision. */
export interface KeyRevision {
  readonly key: Key;
  /** 0 if the key was absent. */
  readonly revision: number;
}

/** A range that an attempt read, and the revisions of its entries. */
export interface RangeRevisions {
  readonly start: KeyText;
  /** Excluded. */
  readonly end: KeyText;
  /** All entries of the range, ascending or descending. */
  readonly entries: readonly { readonly text: KeyText; readonly revision: number }[];
}

/** The keys and ranges that an attempt read from the engine. */
export interface ReadSet {
  readonly keyReads: Iterable<readonly [KeyText, KeyRevision]>;
  readonly rangeReads: readonly RangeRevisions[];
}

/** Whether the read set intersects changes that its attempt did not see. */
export function intersects({ keyReads, rangeReads }: ReadSet, changes: WriteSet<Change>): boolean {
  if (changes.isEmpty) return false;
  for (const [text] of keyReads) if (changes.get(text) !== undefined) return true;
  return rangeReads.some(({ start, end }) => changes.intersects({ start, end, reverse: false }));
}

/** Whether `current` has another revision for a key of the read set, or other entries in a
 *  range. */
export function isStale({ keyReads, rangeReads }: ReadSet, current: EngineReader): boolean {
  for (const [text, { key, revision }] of keyReads) {
    if ((current.get(key, text)?.revision ?? 0) !== revision) return true;
  }
  return rangeReads.some((read) => !isUnchanged(current, read));
}

function isUnchanged(current: EngineReader, read: RangeRevisions): boolean {
  const { start, end, entries } = read;
  const found = current.scan({ start, end, reverse: false }, entries.length + 1);
  if (found.length !== entries.length) return false;
  const isReversed = (entries[0]?.text ?? "") > (entries.at(-1)?.text ?? "");
  return found.every((entry, index) => {
    const before = entries[isReversed ? entries.length - 1 - index : index];
    return before?.text === entry.text && before.revision === entry.revision;
  });
}
