import type { EngineBatch, EngineReader, EngineWrite, VersionedEntry } from "../engine.ts";
import { keyOfText, textOfKey } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";
import type { Key, Value } from "../store.ts";
import type { ChangedKey, RestoreRules, RestoreWrite } from "./restore-rules.ts";
import { newestNumber, readLog, readStates, undoRemoval, withUndo } from "./undo-log.ts";

/** Keys that one restore changes. All are in one commit, so that each request sees either state
 *  completely. */
const changedKeysMax = 5_000_000;
const clearedKeysMax = 1_000_000;

/** The commit that restores the saved state with this number. If it is the newest one, its undo
 *  entries are removed where the key has its value again; the rest of the log stays the exact
 *  difference. If it is not, the restore is a change like any other, so later saved states can
 *  still be restored. */
export function restoreBatch(
  current: EngineReader,
  number: number,
  rules: RestoreRules,
): EngineBatch {
  const sequence = current.sequence + 1;
  const changed = changedSince(current, number);
  const adapted = rules.adapt([...changed.values()], { current, sequence });
  // An unchanged key keeps its revision, so that transactions that have read it do not conflict.
  const isDifferent = ({ key, text, value }: RestoreWrite): boolean =>
    !isSame((changed.get(text) ?? { now: current.get(key, text)?.value }).now, value);
  const differing = adapted.filter(isDifferent);
  const writes = [...differing, ...clearing(current, rules.cleared)].map(
    ({ key, text, value }): EngineWrite => ({ key, text, value, revision: sequence }),
  );
  const isNewest = number === newestNumber(current);
  // All changes since the newest state are in its log already.
  const needsNoEntry = (text: KeyText): boolean =>
    rules.excluded.has(text.charCodeAt(0)) || (isNewest && changed.has(text));
  const batch = withUndo({ sequence, ticks: current.ticks, writes }, current, needsNoEntry);
  if (!isNewest) return batch;
  const after = new Map(writes.map(({ text, value }) => [text, value]));
  const done = [...changed.values()].filter(({ text, now, before }) =>
    isSame(after.has(text) ? after.get(text) : now, before),
  );
  const removals = done.map(({ text }) => undoRemoval(number, text, sequence));
  return { ...batch, writes: [...batch.writes, ...removals] };
}

function changedSince(current: EngineReader, number: number): ReadonlyMap<KeyText, ChangedKey> {
  const changed = new Map<KeyText, ChangedKey>();
  for (const state of readStates(current)) {
    if (state.number < number) continue;
    for (const { text, before } of readLog(current, state.number)) {
      if (changed.has(text)) continue;
      if (changed.size >= changedKeysMax) {
        throw new RangeError(`more than ${changedKeysMax} keys have changed since the saved state`);
      }
      const key = keyOfText(text);
      changed.set(text, { key, text, now: current.get(key, text)?.value, before });
    }
  }
  return changed;
}

function clearing(current: EngineReader, prefixes: readonly Key[]): readonly RestoreWrite[] {
  const found = prefixes.flatMap((prefix): readonly VersionedEntry[] => {
    const start = textOfKey(prefix);
    const last = start.charCodeAt(start.length - 1);
    const end = start.slice(0, -1) + String.fromCharCode(last + 1);
    return current.scan({ start, end, reverse: false }, clearedKeysMax);
  });
  return found.map(({ key, text }) => ({ key, text, value: undefined }));
}

function isSame(left: Value | undefined, right: Value | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return Buffer.compare(left, right) === 0;
}
