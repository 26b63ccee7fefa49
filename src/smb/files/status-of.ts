import type { FileFault } from "../../file/filesystem/file-result.ts";
import { Status, type NtStatus } from "../status.ts";

/** The NTSTATUS of each fault of a file operation. */
const statuses: Readonly<Record<FileFault, NtStatus>> = {
  "access-denied": Status.accessDenied,
  "cannot-delete": Status.cannotDelete,
  "delete-pending": Status.deletePending,
  "directory-not-empty": Status.directoryNotEmpty,
  "disk-full": Status.diskFull,
  "end-of-file": Status.endOfFile,
  "file-closed": Status.fileClosed,
  "invalid-parameter": Status.invalidParameter,
  "is-directory": Status.fileIsADirectory,
  "lock-conflict": Status.fileLockConflict,
  "lock-not-granted": Status.lockNotGranted,
  "name-collision": Status.objectNameCollision,
  "name-invalid": Status.objectNameInvalid,
  "name-not-found": Status.objectNameNotFound,
  "not-directory": Status.notADirectory,
  "path-not-found": Status.objectPathNotFound,
  "range-not-locked": Status.rangeNotLocked,
  "read-only-snapshot": Status.mediaWriteProtected,
  "share-gone": Status.networkNameDeleted,
  "sharing-violation": Status.sharingViolation,
  "too-large": Status.diskFull,
  "too-many-locks": Status.insufficientResources,
  "too-many-opens": Status.tooManyOpenedFiles,
};

export function statusOf(fault: FileFault): NtStatus {
  return statuses[fault];
}
