import type { FileFault } from "../file/filesystem/file-result.ts";

/** The NTSTATUS values in SMB responses, and which faults of file operations they report. */

/** The NTSTATUS values that this server returns ([MS-ERREF] 2.3). */
export const Status = {
  success: 0,
  pending: 0x103,
  notifyCleanup: 0x10b,
  notifyEnumDirectory: 0x10c,
  bufferOverflow: 0x8000_0005,
  noMoreFiles: 0x8000_0006,
  unsuccessful: 0xc000_0001,
  invalidInfoClass: 0xc000_0003,
  infoLengthMismatch: 0xc000_0004,
  invalidParameter: 0xc000_000d,
  noSuchFile: 0xc000_000f,
  invalidDeviceRequest: 0xc000_0010,
  endOfFile: 0xc000_0011,
  moreProcessingRequired: 0xc000_0016,
  invalidViewSize: 0xc000_001f,
  accessDenied: 0xc000_0022,
  bufferTooSmall: 0xc000_0023,
  objectNameInvalid: 0xc000_0033,
  objectNameNotFound: 0xc000_0034,
  objectNameCollision: 0xc000_0035,
  objectPathNotFound: 0xc000_003a,
  objectPathSyntaxBad: 0xc000_003b,
  sharingViolation: 0xc000_0043,
  easNotSupported: 0xc000_004f,
  noEasOnFile: 0xc000_0052,
  fileLockConflict: 0xc000_0054,
  lockNotGranted: 0xc000_0055,
  deletePending: 0xc000_0056,
  privilegeNotHeld: 0xc000_0061,
  logonFailure: 0xc000_006d,
  rangeNotLocked: 0xc000_007e,
  diskFull: 0xc000_007f,
  insufficientResources: 0xc000_009a,
  mediaWriteProtected: 0xc000_00a2,
  badImpersonationLevel: 0xc000_00a5,
  pipeDisconnected: 0xc000_00b0,
  fileIsADirectory: 0xc000_00ba,
  notSupported: 0xc000_00bb,
  networkNameDeleted: 0xc000_00c9,
  badNetworkName: 0xc000_00cc,
  requestNotAccepted: 0xc000_00d0,
  notSameDevice: 0xc000_00d4,
  invalidOplockProtocol: 0xc000_00e3,
  internalError: 0xc000_00e5,
  directoryNotEmpty: 0xc000_0101,
  notADirectory: 0xc000_0103,
  cancelled: 0xc000_0120,
  cannotDelete: 0xc000_0121,
  fileClosed: 0xc000_0128,
  requestOutOfSequence: 0xc000_042a,
  tooManyOpenedFiles: 0xc000_011f,
  invalidLockRange: 0xc000_01a1,
  userSessionDeleted: 0xc000_0203,
  notFound: 0xc000_0225,
  duplicateObjectId: 0xc000_022a,
  notAReparsePoint: 0xc000_0275,
  fileNotAvailable: 0xc000_0467,
  noPreauthHashOverlap: 0xc05d_0000,
} as const;

export type NtStatus = (typeof Status)[keyof typeof Status];

/** The name of a status in `Status`, for example `accessDenied`, for the audit log. */
export function nameOfStatus(status: NtStatus): string {
  return Object.entries(Status).find(([, value]) => value === status)?.[0] ?? status.toString(16);
}

/** The NTSTATUS of each fault of the file operations in `file/filesystem`. */
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
