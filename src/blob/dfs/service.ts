import type { QueryReader, Service } from "../../operation/service.ts";
import { blobService } from "../service.ts";
import { dialect } from "./dialect.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import { checkBlobName, checkContainerName } from "../../protocol/names.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { withSlashes, type BlobAddress } from "../resources.ts";
import type { Operation } from "../../operation/operation.ts";
import { checkAccess, getAccessControl, setAccessControl } from "./access/access-control.ts";
import { appendAndFlush, appendPath } from "./write/append-path.ts";
import { createDirectory, createFile } from "./write/create-path.ts";
import { deleteAnyPath } from "./names/delete-path.ts";
import {
  createFilesystem,
  deleteFilesystem,
  getFilesystemProperties,
  listFilesystems,
  setFilesystemProperties,
} from "./filesystems.ts";
import { flushPath } from "./write/flush-path.ts";
import { listPaths } from "./read/list-paths.ts";
import { getPathProperties, getPathStatus, leasePath, readPath } from "./read/read-path.ts";
import { renamePath } from "./names/rename-path.ts";
import { setAccessControlRecursive } from "./access/set-access-recursive.ts";
import { setPathProperties } from "./write/set-path-properties.ts";

/** The Data Lake API (`dfs`): a second API to the containers and blobs of the blob service, which
 *  calls them filesystems and paths. `data/services.ts` lists it beside the other services. */

/** Finds what a URL path of the Data Lake API addresses: `/` is the account,
 *  `/filesystem?resource=filesystem` a filesystem, `/filesystem/path` a path and `/filesystem/` the
 *  root directory, whose path is empty. Slashes at both ends of a path are ignored. For a listing,
 *  `blob` is the listed directory: a SAS for a directory must be valid for it. */
function identifyPath(asWritten: string, query: QueryReader): Result<BlobAddress> {
  const path = withSlashes(asWritten);
  const none = { container: "", blob: "", snapshot: undefined, versionId: undefined };
  // Only the source of a rename can have these parameters here: a request with them in its URL is
  // one of the Blob API (`isPathRequest`).
  for (const name of ["snapshot", "versionid"]) {
    const moment = query.get(name);
    if (moment !== undefined) return invalidQuery(name, moment);
  }
  if (path === "") return ok({ resource: "service", ...none });
  const slash = path.indexOf("/");
  const container = slash < 0 ? path : path.slice(0, slash);
  const named = checkContainerName(container);
  if (!named.ok) return named;
  const rest = slash < 0 ? "" : trimSlashes(path.slice(slash + 1));
  if (query.get("resource")?.toLowerCase() === "filesystem") {
    if (rest !== "") return invalidQuery("resource", "filesystem");
    const directory = trimSlashes(withSlashes(query.get("directory") ?? ""));
    const valid = directory === "" ? ok(undefined) : checkBlobName(directory);
    if (!valid.ok) return valid;
    return ok({ resource: "container", ...none, container, blob: directory });
  }
  const valid = rest === "" ? ok(undefined) : checkBlobName(rest);
  return valid.ok ? ok({ resource: "blob", ...none, container, blob: rest }) : valid;
}

function trimSlashes(path: string): string {
  return path.replace(/^\/+/, "").replace(/\/+$/, "");
}

/** All operations of the Data Lake API, from which its router is built. Of two routes that match
 *  with equally many requirements, the first in this list is used. */
const dfsOperations: readonly Operation[] = [
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

export const dfsService: Service = {
  ...blobService,
  api: "dfs",
  identify: identifyPath,
  operations: dfsOperations,
  dialect,
};
