import type { Ticks } from "../base/ticks.ts";
import type { Key } from "./store.ts";
import type { KeyText } from "./key-text.ts";
import type { ReadSet } from "./read-set.ts";
import type { Change } from "./write-set.ts";

/** An attempt that is ready to be committed, of this process or of a follower. */
export interface PendingAttempt extends ReadSet {
  /** Store time that the attempt has read. */
  readonly now: Ticks;
  readonly changes: PendingChanges;
  /** Earlier attempts of its batch whose changes it has read. */
  readonly dependencies: Iterable<PendingAttempt>;
}

/** The changes of an attempt, at most one per key. */
export interface PendingChanges {
  readonly isEmpty: boolean;
  readonly count: number;
  inInsertionOrder(): Iterable<Change>;
}

/** The accepted attempts of one process, in the order in which they take effect. None conflicts
 *  with an earlier one; whether commits of other processes invalidate them is checked under the
 *  engine's write lock. */
export interface CommitBatch {
  readonly attempts: readonly PendingAttempt[];
  /** Attempts that get commit priority for their process if they conflict. */
  readonly starving: ReadonlySet<PendingAttempt>;
  /** The attempts are valid for the state with this sequence. */
  readonly sequence: number;
  /** The process of the attempts. */
  readonly owner: number;
  /** Process whose commit priority this batch may ignore; 0 for none. */
  readonly ignoredOwner: number;
  /** Whether the batch may use the space that is reserved for deletions on a full disk. */
  readonly mayUseReserve: boolean;
  /** Number of attempts of the process that conflicted since its previous commit. */
  readonly conflicts: number;
  /** For a batch of a follower: the record that is written in the same commit. */
  readonly record?: BatchRecordPosition;
}

/** Identifies a batch of a follower: the key of its batch record, and the number of the batch. */
export interface BatchRecordPosition {
  readonly key: Key;
  readonly text: KeyText;
  /** Greater than that of every earlier batch of the follower. */
  readonly number: number;
}

/** What became of a batch. */
export type BatchResult =
  | {
      readonly kind: "committed";
      /** Attempts that were not committed, because of a conflict. */
      readonly dropped: ReadonlySet<PendingAttempt>;
    }
  /** Nothing was committed; the batch must be validated and written again. */
  | { readonly kind: "postponed" };

/** Makes batches durable. */
export interface BatchWriter {
  write(batch: CommitBatch): Promise<BatchResult>;
}

/** Shared by all results in which nothing was dropped. */
export const noAttempts: ReadonlySet<PendingAttempt> = new Set();
export const postponed: BatchResult = { kind: "postponed" };

/** Whether the process that holds the commit priority must commit before this batch. */
export function mustYield(
  { owner, ignoredOwner }: Pick<CommitBatch, "owner" | "ignoredOwner">,
  priorityOwner: number,
): boolean {
  return priorityOwner !== 0 && priorityOwner !== owner && priorityOwner !== ignoredOwner;
}
