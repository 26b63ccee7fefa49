import { declareServiceProperties } from "../account/declare-service-properties.ts";
import { declarePreflight } from "../account/service-resource.ts";
import { declareUserDelegationKey } from "../account/user-delegation-key.ts";
import type { Operation } from "../operation/operation.ts";
import { copyFile, abortCopyFile } from "./copy/copy-file.ts";
import {
  createDirectory,
  deleteDirectory,
  getDirectoryProperties,
  setDirectoryProperties,
} from "./directory/directories.ts";
import { listDirectory } from "./directory/list-directory.ts";
import { forceCloseHandles, listHandles } from "./handle/force-close-handles.ts";
import { createHardLink, createSymbolicLink, getSymbolicLink } from "./link/links.ts";
import { createFile } from "./node/create-file.ts";
import { deleteFile } from "./node/delete-file.ts";
import {
  getDirectoryMetadata,
  getFileMetadata,
  setDirectoryMetadata,
  setFileMetadata,
} from "./node/metadata.ts";
import { breakFileLease, leaseFile, setFileProperties } from "./node/set-file-properties.ts";
import { getFile, getFileProperties } from "./node/get-file.ts";
import { listRanges } from "./range/list-ranges.ts";
import { clearRange, putRange, putRangeFromUrl } from "./range/put-range.ts";
import { renameDirectory, renameFile } from "./rename/rename.ts";
import { listShares } from "./service/list-shares.ts";
import { createShare, deleteShare, restoreShare, snapshotShare } from "./share/share-lifecycle.ts";
import {
  getShareProperties,
  getShareStats,
  breakShareLease,
  leaseShare,
  setShareProperties,
  getShareAcl,
  setShareAcl,
  getShareMetadata,
  setShareMetadata,
} from "./share/share-properties.ts";
import { createPermission, getPermission } from "./share/permissions.ts";

/** The REST operations of the File service, from which the router is built. Of two routes that
 *  match with equally many requirements, the first in this list is used. */
export const operations: readonly Operation[] = [
  ...declareServiceProperties("file"),
  declareUserDelegationKey("file", { since: "2025-07-05" }),
  declarePreflight("file", "Preflight File Request"),
  listShares,
  createShare,
  getShareProperties,
  setShareProperties,
  getShareMetadata,
  setShareMetadata,
  getShareAcl,
  setShareAcl,
  getShareStats,
  createPermission,
  getPermission,
  leaseShare,
  breakShareLease,
  snapshotShare,
  deleteShare,
  restoreShare,
  createDirectory,
  getDirectoryProperties,
  setDirectoryProperties,
  getDirectoryMetadata,
  setDirectoryMetadata,
  listDirectory,
  deleteDirectory,
  createFile,
  getFile,
  getFileProperties,
  setFileProperties,
  getFileMetadata,
  setFileMetadata,
  leaseFile,
  breakFileLease,
  deleteFile,
  putRange,
  clearRange,
  putRangeFromUrl,
  listRanges,
  copyFile,
  abortCopyFile,
  renameFile,
  renameDirectory,
  listHandles,
  forceCloseHandles,
  createHardLink,
  createSymbolicLink,
  getSymbolicLink,
];
