import type { ContentRef } from "../../content/content-ref.ts";
import type { Effect } from "../../operation/effects.ts";
import type { WaitDecision } from "../../operation/reply.ts";
import type { WaitOutcome } from "../../operation/work.ts";
import type { NodeChange } from "../events.ts";

/** What the file operations of SMB return: replies, faults and waits, inside the transaction
 *  (`…Decision`) and to the caller (`FileOutcome`). */

/** Why an operation on a file failed. SMB maps it to an NTSTATUS (`smb/status.ts`). */
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

/** What `decide` of an operation returns: a reply, a fault or a wait. The effects of all three are
 *  applied in the transaction that decided. */
export type FileDecision<T> = FileReply<T> | FaultDecision | WaitDecision;

export interface FileReply<T> {
  readonly value: T;
  readonly effects?: readonly Effect[];
  /** Content that the caller reads after the decision. Its reader is opened on the state that the
   *  decision was made on. */
  readonly content?: ContentRef;
  /** Changes of files that the event log records. */
  readonly changes?: readonly NodeChange[];
  /** The handle through which the content of a file was changed. It is marked, so that its close is
   *  an event (`markOpenChange`). */
  readonly openChange?: { readonly file: bigint; readonly handle: bigint };
}

/** A decision that the operation fails. If `decide` returned the fault, its effects are applied
 *  nevertheless; a fault of `load` or `check` has none. */
export interface FaultDecision {
  readonly fault: FileFault;
  readonly effects?: readonly Effect[];
}

/** What the caller of an operation gets after the transaction. */
export type FileOutcome<T> = FileResult<T> | WaitOutcome;

/** The outcome of an operation that never waits for clients to give up caching (`callAtOnce`). */
export type FileResult<T> = Done<T> | Failed;

export interface Done<T> {
  readonly kind: "done";
  readonly value: T;
}

export interface Failed {
  readonly kind: "fault";
  readonly fault: FileFault;
}

export function done<T>(value: T): Done<T> {
  return { kind: "done", value };
}
