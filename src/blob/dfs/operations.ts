import type { Operation } from "../../operation/operation.ts";
import { checkAccess, getAccessControl, setAccessControl } from "./access-control.ts";
import { appendAndFlush, appendPath } from "./append-path.ts";
import { createDirectory, createFile } from "./create-path.ts";
import { deleteAnyPath } from "./delete-path.ts";
import {
  createFilesystem,
  deleteFilesystem,
  getFilesystemProperties,
  listFilesystems,
  setFilesystemProperties,
} from "./filesystems.ts";
import { flushPath } from "./flush-path.ts";
import { listPaths } from "./list-paths.ts";
import { getPathProperties, getPathStatus, leasePath, readPath } from "./read-path.ts";
import { renamePath } from "./rename-path.ts";
import { setAccessControlRecursive } from "./set-access-recursive.ts";
import { setPathProperties } from "./set-path-properties.ts";

/** All operations of the Data Lake API. The order matters only between routes with equally many
 *  requirements: the first that matches is used. */
export const dfsOperations: readonly Operation[] = [
  listFilesystems,
  createFilesystem,
  getFilesystemProperties,
  setFilesystemProperties,
  deleteFilesystem,
  listPaths,
  createFile,
  createDirectory,
  renamePath,
  appendPath,
  appendAndFlush,
  flushPath,
  readPath,
  getPathProperties,
  getPathStatus,
  setPathProperties,
  getAccessControl,
  checkAccess,
  setAccessControl,
  setAccessControlRecursive,
  leasePath,
  deleteAnyPath,
];
