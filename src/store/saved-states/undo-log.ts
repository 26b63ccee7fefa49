import { recordCodec } from "../../encoding/record.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { EngineBatch, EngineReader, EngineWrite, VersionedEntry } from "../engine.ts";
import { keyOfText } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";
import type { Value } from "../store.ts";

/**
 * The undo log of saved states. All its keys begin with `00`, so no transaction reads them.
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
export interface SavedState {
  readonly name: string;
  /** Sequence of the state. */
  readonly sequence: number;
  readonly savedAt: Ticks;
}

export interface NumberedState extends SavedState {
  readonly number: number;
}

/** The value of a key in a saved state; undefined if it was absent. */
export interface UndoEntry {
  readonly text: KeyText;
  readonly before: Value | undefined;
}

const codec = recordCodec<SavedState>({ version: 1 });
const statePrefix = "\u0000\u0004";
const undoPrefix = "\u0000\u0005";
const newestText = "\u0000\u0006";
const newestKey = keyOfText(newestText);
const numberUnits = 4;
const wasAbsent = 0;
const wasPresent = 1;
const pageEntriesMax = 1000;
export const savedStatesMax = 1000;
const numberMax = 2 ** 31;

/** The first byte of all keys that belong to the store itself. */
const reservedText = "\u0000";

/** Number of the newest saved state; 0 if there is none. */
export function newestNumber(current: EngineReader): number {
  const stored = current.get(newestKey, newestText)?.value;
  return stored === undefined ? 0 : Buffer.from(stored).readUInt32BE(0);
}

/** Adds to a batch the undo entries of the keys that it changes for the first time since the newest
 *  saved state. Without saved states the batch is returned unchanged. */
export function withUndo(
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

/** The saved states, oldest first. */
export function readStates(current: EngineReader): readonly NumberedState[] {
  const bounds = { start: statePrefix, end: undoPrefix, reverse: false };
  return current.scan(bounds, savedStatesMax).map(({ text, value }) => ({
    ...codec.decode(value),
    number: Buffer.from(text.slice(statePrefix.length), "latin1").readUInt32BE(0),
  }));
}

/** The entries of one log, in pages. */
export function* readLog(current: EngineReader, number: number): Generator<UndoEntry> {
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

/** The entry of a key in one log. */
export function readUndo(
  current: EngineReader,
  number: number,
  text: KeyText,
): UndoEntry | undefined {
  const undoText = logPrefix(number) + text;
  const found = current.get(keyOfText(undoText), undoText);
  return found && undoEntry(found, undoText.length - text.length);
}

export function stateWrite(state: NumberedState, revision: number): EngineWrite {
  const { number, name, sequence, savedAt } = state;
  return put(stateText(number), codec.encode({ name, sequence, savedAt }), revision);
}

export function stateRemoval(number: number, revision: number): EngineWrite {
  return removal(stateText(number), revision);
}

export function newestWrite(number: number, revision: number): EngineWrite {
  return number === 0
    ? removal(newestText, revision)
    : put(newestText, bytesOfNumber(number), revision);
}

export function undoWrite(number: number, entry: UndoEntry, revision: number): EngineWrite {
  return put(logPrefix(number) + entry.text, encodeBefore(entry.before), revision);
}

export function undoRemoval(number: number, text: KeyText, revision: number): EngineWrite {
  return removal(logPrefix(number) + text, revision);
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
