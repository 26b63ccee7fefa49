import type { Engine, EngineBatch, EngineReader, EngineWrite } from "../engine.ts";
import type { Committed } from "../group-writer.ts";
import { textOfKey } from "../key-text.ts";
import type { KeyText } from "../key-text.ts";
import type { Key } from "../store.ts";
import { restoreBatch } from "./restore-batch.ts";
import type { RestoreRules } from "./restore-rules.ts";
import {
  newestWrite,
  readLog,
  readStates,
  readUndo,
  savedStatesMax,
  stateRemoval,
  stateWrite,
  undoRemoval,
  undoWrite,
  withUndo,
  type NumberedState,
  type SavedState,
} from "./undo-log.ts";

export interface SavedStatesOptions {
  readonly engine: Engine;
  readonly rules: RestoreRules;
  readonly onCommitted: (commit: Committed) => void;
}

export type SaveResult = "saved" | "name taken" | "too many";

/** Estimate for the engine: larger commits run on a thread. */
const manyWrites = 1000;

/** Saved states of a store: named states to which it can be restored. A saved state is kept as the
 *  former values of the keys that were changed since (`undo-log.ts`), so saving costs nothing, and
 *  restoring costs in proportion to the changes. Works across processes and restarts, because every
 *  commit reads the number of the newest saved state under the engine's write lock. */
export class SavedStates {
  readonly #options: SavedStatesOptions;

  constructor(options: SavedStatesOptions) {
    this.#options = options;
  }

  /** Adds undo entries to a batch that is about to be committed. */
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
      const state = { number, name, sequence, savedAt: ticks };
      return nextBatch(current, (revision) => [
        stateWrite(state, revision),
        newestWrite(number, revision),
      ]);
    });
    return result;
  }

  /** The saved states, oldest first. */
  list(): readonly SavedState[] {
    return this.#read(readStates).map(({ name, sequence, savedAt }) => ({
      name,
      sequence,
      savedAt,
    }));
  }

  /** Makes the current state equal to a saved one, in one commit. Returns whether it exists. */
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

  /** For each key, whether any saved state contains it. */
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
  /** The saved state before it, which takes over the log. */
  readonly previous: NumberedState | undefined;
  readonly newest: NumberedState | undefined;
  readonly revision: number;
}

function deletion({ current, state, previous, newest, revision }: Deletion): EngineWrite[] {
  const writes = [stateRemoval(state.number, revision)];
  for (const entry of readLog(current, state.number)) {
    writes.push(undoRemoval(state.number, entry.text, revision));
    const isNeeded =
      previous !== undefined && readUndo(current, previous.number, entry.text) === undefined;
    if (isNeeded) writes.push(undoWrite(previous.number, entry, revision));
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

/** Goes back from the current state, one saved state at a time. */
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
