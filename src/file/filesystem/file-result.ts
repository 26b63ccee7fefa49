import type { ContentRef } from "../../content/content-ref.ts";
import type { Effect } from "../../operation/effects.ts";

/** Why an operation on a file failed. Each protocol has its own code for each of these. */
export type FileFault =
  | "access-denied"
  | "cannot-delete"
  | "delete-pending"
  | "directory-not-empty"
  | "disk-full"
  | "end-of-file"
  | "file-closed"
  | "invalid-parameter"
  | "is-directory"
  | "lock-conflict"
  | "lock-not-granted"
  | "name-collision"
  | "name-invalid"
  | "name-not-found"
  | "not-directory"
  | "path-not-found"
  | "range-not-locked"
  | "read-only-snapshot"
  | "share-gone"
  | "sharing-violation"
  | "too-large"
  | "too-many-locks"
  | "too-many-opens";

/** The decision of an operation: a reply, a fault or a wait. Its effects are applied in the
 *  transaction that decided, those of a fault and of a wait, too. */
export type FileDecision<T> = FileReply<T> | FaultDecision | FileWaitDecision;

export interface FileReply<T> {
  readonly value: T;
  readonly effects?: readonly Effect[];
  /** Content to read after the reply: its reader is opened on the state that was decided on. */
  readonly content?: ContentRef;
}

export interface FaultDecision {
  readonly fault: FileFault;
  readonly effects?: readonly Effect[];
}

/** The operation must wait for a break; it runs again when the locks of `file` change. */
export interface FileWaitDecision {
  readonly wait: { readonly file: bigint };
  readonly effects: readonly Effect[];
}

export interface Failed {
  readonly kind: "fault";
  readonly fault: FileFault;
}

export interface Done<T> {
  readonly kind: "done";
  readonly value: T;
}

export function done<T>(value: T): Done<T> {
  return { kind: "done", value };
}

/** Breaks were started: run the operation again when the file's locks change or a break expires. */
export interface FileWait {
  readonly kind: "wait";
  /** The id of the file whose lock state to watch. */
  readonly file: bigint;
}

export type FileResult<T> = Done<T> | Failed;
export type FileResultOrWait<T> = FileResult<T> | FileWait;
