import { invalidQuery } from "../../protocol/faults.ts";
import { checkBlobName, checkContainerName } from "../../protocol/names.ts";
import { ok, type Result } from "../../protocol/result.ts";
import type { QueryReader } from "../../operation/service.ts";
import type { BlobAddress } from "../resources.ts";

/**
 * Finds what a URL path of the Data Lake API addresses: `/` is the account,
 * `/filesystem?resource=filesystem` a filesystem, `/filesystem/path` a path and `/filesystem/` the
 * root directory, whose path is empty. Slashes at both ends of a path are ignored. For a listing,
 * `blob` is the listed directory: a SAS for a directory must be valid for it.
 */
export function identifyPath(path: string, query: QueryReader): Result<BlobAddress> {
  const none = { container: "", blob: "", snapshot: undefined, versionId: undefined };
  // Only the source of a rename can have these: other requests with them are requests of the Blob
  // API.
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
    const directory = trimSlashes(query.get("directory") ?? "");
    const valid = directory === "" ? ok(undefined) : checkBlobName(directory);
    if (!valid.ok) return valid;
    return ok({ resource: "container", ...none, container, blob: directory });
  }
  const valid = rest === "" ? ok(undefined) : checkBlobName(rest);
  return valid.ok ? ok({ resource: "blob", ...none, container, blob: rest }) : valid;
}

/** Removes slashes at both ends. */
export function trimSlashes(path: string): string {
  return path.replace(/^\/+/, "").replace(/\/+$/, "");
}
