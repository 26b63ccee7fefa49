import type { EngineReader } from "../engine.ts";
import type { KeyText } from "../key-text.ts";
import type { Key, Value } from "../store.ts";

/** A key that has changed since a saved state. */
export interface ChangedKey {
  readonly key: Key;
  readonly text: KeyText;
  readonly now: Value | undefined;
  /** The value in the saved state. */
  readonly before: Value | undefined;
}

/** What a restore writes; an undefined value deletes the key. */
export interface RestoreWrite {
  readonly key: Key;
  readonly text: KeyText;
  readonly value: Value | undefined;
}

/** Which keys a restore treats differently, because they describe something outside the store. */
export interface RestoreRules {
  /** First bytes of keys that are neither logged nor restored. */
  readonly excluded: ReadonlySet<number>;
  /** Prefixes of keys that a restore deletes: what they describe ends with it. */
  readonly cleared: readonly Key[];
  /** The writes for the changed keys. A key without a write keeps its value. */
  adapt(changed: readonly ChangedKey[], state: RestoreState): readonly RestoreWrite[];
}

export interface RestoreState {
  readonly current: EngineReader;
  /** Sequence of the commit that restores. */
  readonly sequence: number;
}

/** Restores every key to its value. */
export const plainRestore: RestoreRules = {
  excluded: new Set(),
  cleared: [],
  adapt: (changed) => changed.map(({ key, text, before }) => ({ key, text, value: before })),
};
