import type { Engine, EngineBatch, EngineReader, EngineWrite, VersionedEntry } from "../engine.ts";
import type { Committed } from "../committer.ts";
import { keyOfText, textOfKey, type KeyText } from "../../encoding/keys.ts";
import type { Key, Value } from "../store.ts";
import type { Ticks } from "../../base/ticks.ts";
import { recordCodec } from "../../encoding/table.ts";

/**
 * Saved states: named states of all accounts to which a store can be restored, for tests that begin
 * with the same data again and again (`etagere snapshot`, `controls/server-snapshots.ts`).
 *
 * They are kept as an undo log. All its keys begin with `00`, so no transaction reads them.
 *
 * - `00 04 n`: the saved state with the number n, counted from 1 in the order of saving.
 * - `00 05 n key`: the value that a key had before its first change after saved state n and before
 *   saved state n + 1.
 * - `00 06`: the greatest n; absent if there is no saved state. Every commit reads it.
 *
 * The value of a key in saved state n is in the first log from n upwards that has the key, or else
 * the current value. Example: with the states 1 and 2, a key that was `a`, became `b` between them
 * and `c` afterwards has `a` in log 1 and `b` in log 2.
 */
interface SavedState {
  readonly name: string;
  /** The sequence (number) of the last commit that the saved state contains. */
  readonly sequence: number;
  readonly savedAt: Ticks;
}

interface NumberedState extends SavedState {
  readonly number: number;
}

/** The value that a key had in a saved state (`before`); undefined if it was absent. */
interface UndoEntry {
  readonly text: KeyText;
  readonly before: Value | undefined;
}

const codec = recordCodec<SavedState>({ version: 1 });
const statePrefix = "\u0000\u0004";
const undoPrefix = "\u0000\u0005";
const newestText = "\u0000\u0006";
const newestKey = keyOfText(newestText);
const numberUnits = 4;
/** First byte of an undo entry: whether the key was there, and its value follows. */
const wasAbsent = 0;
const wasPresent = 1;
const pageEntriesMax = 1000;
const savedStatesMax = 1000;
const numberMax = 2 ** 31;

/** The first byte of all keys that belong to the store itself, and are never saved. */
const reservedText = "\u0000";

/** Number of the newest saved state, in whose log commits keep old values; 0 if there is none. */
function newestNumber(current: EngineReader): number {
  const stored = current.get(newestKey, newestText)?.value;
  return stored === undefined ? 0 : Buffer.from(stored).readUInt32BE(0);
}

/** Adds to a commit the old values (undo entries) of the keys that it changes for the first time
 *  since the newest saved state. Without saved states the batch is returned unchanged. */
function withUndo(
  batch: EngineBatch,
  current: EngineReader,
  isExcluded: (text: KeyText) => boolean,
): EngineBatch {
  const number = newestNumber(current);
  if (number === 0) return batch;
  const entries: EngineWrite[] = [];
  for (const { key, text } of batch.writes) {
    if (text.startsWith(reservedText) || isExcluded(text)) continue;
    const undoText = logPrefix(number) + text;
    const undoKey = keyOfText(undoText);
    if (current.get(undoKey, undoText) !== undefined) continue;
    const before = current.get(key, text)?.value;
    entries.push(put(undoText, encodeBefore(before), batch.sequence));
  }
  return entries.length === 0 ? batch : { ...batch, writes: [...batch.writes, ...entries] };
}

function readStates(current: EngineReader): readonly NumberedState[] {
  const bounds = { start: statePrefix, end: undoPrefix, reverse: false };
  return current.scan(bounds, savedStatesMax).map(({ text, value }) => ({
    ...codec.decode(value),
    number: Buffer.from(text.slice(statePrefix.length), "latin1").readUInt32BE(0),
  }));
}

/** Reads the undo log of a saved state: what was changed after it and before the next one. */
function* readLog(current: EngineReader, number: number): Generator<UndoEntry> {
  const prefix = logPrefix(number);
  const end = logPrefix(number + 1);
  for (let start = prefix; ;) {
    const page = current.scan({ start, end, reverse: false }, pageEntriesMax);
    for (const entry of page) yield undoEntry(entry, prefix.length);
    const last = page.at(-1);
    if (last === undefined || page.length < pageEntriesMax) return;
    start = `${last.text}\u0000`;
  }
}

/** The entry of a key in the undo log of a saved state; undefined if the key was not changed. */
function readUndo(current: EngineReader, number: number, text: KeyText): UndoEntry | undefined {
  const undoText = logPrefix(number) + text;
  const found = current.get(keyOfText(undoText), undoText);
  return found && undoEntry(found, undoText.length - text.length);
}

function newestWrite(number: number, revision: number): EngineWrite {
  return number === 0
    ? removal(newestText, revision)
    : put(newestText, bytesOfNumber(number), revision);
}

function undoEntry({ text, value }: VersionedEntry, prefixUnits: number): UndoEntry {
  const before = value[0] === wasPresent ? value.subarray(1) : undefined;
  return { text: text.slice(prefixUnits), before };
}

function encodeBefore(before: Value | undefined): Value {
  if (before === undefined) return Uint8Array.of(wasAbsent);
  const bytes = new Uint8Array(1 + before.length);
  bytes[0] = wasPresent;
  bytes.set(before, 1);
  return bytes;
}

function stateText(number: number): KeyText {
  return statePrefix + textOfNumber(number);
}

function logPrefix(number: number): KeyText {
  return undoPrefix + textOfNumber(number);
}

function textOfNumber(number: number): KeyText {
  return Buffer.from(bytesOfNumber(number)).toString("latin1");
}

function bytesOfNumber(number: number): Uint8Array {
  if (number >= numberMax) throw new RangeError(`saved state number ${number} is too large`);
  const bytes = Buffer.alloc(numberUnits);
  bytes.writeUInt32BE(number);
  return new Uint8Array(bytes);
}

function put(text: KeyText, value: Value, revision: number): EngineWrite {
  return { key: keyOfText(text), text, value, revision };
}

function removal(text: KeyText, revision: number): EngineWrite {
  return { key: keyOfText(text), text, value: undefined, revision };
}

/** Limit of the keys that one restore changes, which bounds its memory: all are in one commit, so
 *  that each request sees either state completely. */
const changedKeysMax = 5_000_000;
const clearedKeysMax = 1_000_000;

/** The commit that restores the saved state with this number. If it is the newest one, its undo
 *  entries are removed where the key has its value again; the rest of the log stays the exact
 *  difference. If it is not, the restore is a change like any other, so later saved states can
 *  still be restored. */
function restoreBatch(current: EngineReader, number: number, rules: RestoreRules): EngineBatch {
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
  // The log of the newest state already has all changes since.
  const needsNoEntry = (text: KeyText): boolean =>
    rules.excluded.has(text.charCodeAt(0)) || (isNewest && changed.has(text));
  const batch = withUndo({ sequence, ticks: current.ticks, writes }, current, needsNoEntry);
  if (!isNewest) return batch;
  const after = new Map(writes.map(({ text, value }) => [text, value]));
  const done = [...changed.values()].filter(({ text, now, before }) =>
    isSame(after.has(text) ? after.get(text) : now, before),
  );
  const removals = done.map(({ text }) => removal(logPrefix(number) + text, sequence));
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

export interface ChangedKey {
  readonly key: Key;
  readonly text: KeyText;
  readonly now: Value | undefined;
  /** The value that the key had in the saved state; undefined if it was absent there. */
  readonly before: Value | undefined;
}

/** One change that a restore makes; an undefined value deletes the key. */
export type RestoreWrite = Omit<EngineWrite, "revision">;

/** Which keys a restore treats differently, because they describe something outside the store. */
export interface RestoreRules {
  /** First bytes of the keys that a restore leaves as they are; their old values are not kept. */
  readonly excluded: ReadonlySet<number>;
  /** Prefixes of keys that a restore deletes, because it ends what they describe. */
  readonly cleared: readonly Key[];
  /** Returns what to write for the keys that were changed since the saved state. A key without a
   *  write keeps its value. */
  adapt(changed: readonly ChangedKey[], state: RestoreState): readonly RestoreWrite[];
}

interface RestoreState {
  readonly current: EngineReader;
  readonly sequence: number;
}

/** The default rules: each key gets the value that it had in the saved state. */
export const plainRestore: RestoreRules = {
  excluded: new Set(),
  cleared: [],
  adapt: (changed) => changed.map(({ key, text, before }) => ({ key, text, value: before })),
};

interface SavedStatesOptions {
  readonly engine: Engine;
  readonly rules: RestoreRules;
  readonly onCommitted: (commit: Committed) => void;
}

type SaveResult = "saved" | "name taken" | "too many";

/** The number of writes that the engine gets: enough for it to commit on a thread, because a
 *  restore may be long. */
const manyWrites = 1000;

/** Saves and restores named states of a store. A saved state consists of the former values of the
 *  keys that were changed since. Saving therefore costs nothing, and the cost of restoring is
 *  proportional to the changes. Works across processes and restarts, because every commit reads the
 *  number of the newest saved state under the engine's write lock. */
export class SavedStates {
  readonly #options: SavedStatesOptions;

  constructor(options: SavedStatesOptions) {
    this.#options = options;
  }

  /** Called for each commit of the store: adds the old values that saved states need. */
  readonly logged = (batch: EngineBatch, current: EngineReader): EngineBatch =>
    withUndo(batch, current, this.#isExcluded);

  async save(name: string): Promise<SaveResult> {
    let result: SaveResult = "saved";
    await this.#commit((current) => {
      const states = readStates(current);
      if (states.some((state) => state.name === name)) result = "name taken";
      else if (states.length >= savedStatesMax) result = "too many";
      if (result !== "saved") return undefined;
      const { sequence, ticks } = current;
      const number = (states.at(-1)?.number ?? 0) + 1;
      const state = codec.encode({ name, sequence, savedAt: ticks });
      return nextBatch(current, (revision) => [
        put(stateText(number), state, revision),
        newestWrite(number, revision),
      ]);
    });
    return result;
  }

  list(): readonly SavedState[] {
    return this.#read(readStates).map(({ name, sequence, savedAt }) => ({
      name,
      sequence,
      savedAt,
    }));
  }

  /** Makes the state equal to the saved one with this name, in one commit. Returns whether it
   *  exists. */
  async restore(name: string): Promise<boolean> {
    const { rules } = this.#options;
    let isFound = false;
    await this.#commit((current) => {
      const state = readStates(current).find((each) => each.name === name);
      isFound = state !== undefined;
      return state && restoreBatch(current, state.number, rules);
    }, manyWrites);
    return isFound;
  }

  /** Deletes a saved state. Its undo entries move to the state before it, which still needs them.
   *  Returns whether it existed. */
  async delete(name: string): Promise<boolean> {
    let isFound = false;
    await this.#commit((current) => {
      const states = readStates(current);
      const index = states.findIndex((each) => each.name === name);
      const state = states[index];
      isFound = state !== undefined;
      if (state === undefined) return undefined;
      return nextBatch(current, (revision) =>
        deletion({ current, state, previous: states[index - 1], newest: states.at(-1), revision }),
      );
    }, manyWrites);
    return isFound;
  }

  /** For each key, whether any saved state contains it: an extent in one must be kept. */
  contain(keys: readonly Key[]): readonly boolean[] {
    return this.#read((current) => {
      const numbers = readStates(current).map(({ number }) => number);
      return keys.map((key) => numbers.length > 0 && isInAny(current, numbers, key));
    });
  }

  readonly #isExcluded = (text: KeyText): boolean =>
    this.#options.rules.excluded.has(text.charCodeAt(0));

  #read<T>(read: (current: EngineReader) => T): T {
    const view = this.#options.engine.open();
    try {
      return read(view);
    } finally {
      view.close();
    }
  }

  async #commit(
    decide: (current: EngineReader) => EngineBatch | undefined,
    writesExpected = 0,
  ): Promise<void> {
    const { engine, onCommitted } = this.#options;
    let committed: Committed | undefined;
    await engine.commit((current) => {
      const batch = decide(current);
      const { sequence: previous } = current;
      committed = batch && { previous, sequence: batch.sequence, writes: batch.writes };
      return batch;
    }, writesExpected);
    if (committed !== undefined) onCommitted(committed);
  }
}

interface Deletion {
  readonly current: EngineReader;
  readonly state: NumberedState;
  /** The saved state before `state`, which takes over its undo log. */
  readonly previous: NumberedState | undefined;
  readonly newest: NumberedState | undefined;
  readonly revision: number;
}

function deletion({ current, state, previous, newest, revision }: Deletion): EngineWrite[] {
  const writes = [removal(stateText(state.number), revision)];
  for (const entry of readLog(current, state.number)) {
    const { text, before } = entry;
    writes.push(removal(logPrefix(state.number) + text, revision));
    const isNeeded =
      previous !== undefined && readUndo(current, previous.number, text) === undefined;
    if (isNeeded) {
      writes.push(put(logPrefix(previous.number) + text, encodeBefore(before), revision));
    }
  }
  if (state === newest) writes.push(newestWrite(previous?.number ?? 0, revision));
  return writes;
}

function nextBatch(
  current: EngineReader,
  writesAt: (revision: number) => readonly EngineWrite[],
): EngineBatch {
  const { ticks } = current;
  const sequence = current.sequence + 1;
  return { sequence, ticks, writes: writesAt(sequence), mayUseReserve: true };
}

/** Whether a key is in any saved state. Goes back from the current state, one undo log at a
 *  time. */
function isInAny(current: EngineReader, numbers: readonly number[], key: Key): boolean {
  const text = textOfKey(key);
  let isPresent = current.get(key, text) !== undefined;
  for (const number of numbers.toReversed()) {
    const undo = readUndo(current, number, text);
    if (undo !== undefined) isPresent = undo.before !== undefined;
    if (isPresent) return true;
  }
  return false;
}

export type SnapshotProblem =
  | "InvalidSnapshotName"
  | "SnapshotAlreadyExists"
  | "SnapshotNotFound"
  | "TooManySnapshots"
  | "SnapshotsNotSupported";

/** A state (users say snapshot) could not be saved, restored or deleted; nothing was changed. */
export class SnapshotError extends Error {
  override readonly name = "SnapshotError";
  readonly code: SnapshotProblem;

  constructor(code: SnapshotProblem, message: string) {
    super(message);
    this.code = code;
  }
}
