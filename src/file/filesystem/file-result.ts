/** Why a handle did not get what it asked for. Each door has its own words for these. */
export type Refusal =
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

export interface Refused {
  readonly kind: "refused";
  readonly refusal: Refusal;
}

export function refuse(refusal: Refusal): Refused {
  return { kind: "refused", refusal };
}

export interface Done<T> {
  readonly kind: "done";
  readonly value: T;
}

export function done<T>(value: T): Done<T> {
  return { kind: "done", value };
}

/** Breaks were started: ask again, about everything, when the file's locks change or time is up. */
export interface FileWait {
  readonly kind: "wait";
  /** The id of the file whose locks stand in the way. */
  readonly file: bigint;
}

export type FileResult<T> = Done<T> | Refused;
export type FileResultOrWait<T> = FileResult<T> | FileWait;
