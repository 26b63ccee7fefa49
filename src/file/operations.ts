import { declareServiceProperties } from "../account/declare-service-properties.ts";
import { declarePreflight } from "../account/service-resource.ts";
import { declareUserDelegationKey } from "../account/user-delegation-key.ts";
import type { Operation } from "../operation/operation.ts";
import { abortCopyFile } from "./copy/abort-copy.ts";
import { copyFile } from "./copy/copy-file.ts";
import { createDirectory } from "./directory/create-directory.ts";
import { deleteDirectory } from "./directory/delete-directory.ts";
import { getDirectoryMetadata, setDirectoryMetadata } from "./directory/directory-metadata.ts";
import {
  getDirectoryProperties,
  setDirectoryProperties,
} from "./directory/directory-properties.ts";
import { listDirectory } from "./directory/list-directory.ts";
import { forceCloseHandles } from "./handle/force-close-handles.ts";
import { listHandles } from "./handle/list-handles.ts";
import { createHardLink } from "./link/hard-link.ts";
import { createSymbolicLink, getSymbolicLink } from "./link/symbolic-link.ts";
import { createFile } from "./node/create-file.ts";
import { deleteFile } from "./node/delete-file.ts";
import { getFileMetadata, setFileMetadata } from "./node/file-metadata.ts";
import { getFile, getFileProperties } from "./node/get-file.ts";
import { breakFileLease, leaseFile } from "./node/lease-file.ts";
import { setFileProperties } from "./node/set-file-properties.ts";
import { listRanges } from "./range/list-ranges.ts";
import { clearRange, putRange, putRangeFromUrl } from "./range/put-range.ts";
import { renameDirectory, renameFile } from "./rename/rename.ts";
import { listShares } from "./service/list-shares.ts";
import { createShare } from "./share/create-share.ts";
import { deleteShare } from "./share/delete-share.ts";
import { getShareProperties } from "./share/get-share-properties.ts";
import { getShareStats } from "./share/get-share-stats.ts";
import { breakShareLease, leaseShare } from "./share/lease-share.ts";
import { createPermission, getPermission } from "./share/permissions.ts";
import { restoreShare } from "./share/restore-share.ts";
import { setShareProperties } from "./share/set-share-properties.ts";
import { getShareAcl, setShareAcl } from "./share/share-acl.ts";
import { getShareMetadata, setShareMetadata } from "./share/share-metadata.ts";
import { snapshotShare } from "./share/snapshot-share.ts";

/** The operations of the File service, from which the router is built. Order matters only between
 *  routes with equally many requirements: the first that matches is used. */
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
