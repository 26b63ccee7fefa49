export type SnapshotProblem =
  | "InvalidSnapshotName"
  | "SnapshotAlreadyExists"
  | "SnapshotNotFound"
  | "TooManySnapshots"
  | "SnapshotsNotSupported";

/** A snapshot could not be saved, restored or deleted; nothing was changed. */
export class SnapshotError extends Error {
  override readonly name = "SnapshotError";
  readonly code: SnapshotProblem;

  constructor(code: SnapshotProblem, message: string) {
    super(message);
    this.code = code;
  }
}
