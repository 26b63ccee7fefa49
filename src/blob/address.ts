import { snapshotTime } from "../operation/common-params.ts";
import type { QueryReader, SignedName } from "../operation/service.ts";
import { invalidQuery } from "../protocol/faults.ts";
import { checkBlobName, checkContainerName } from "../protocol/names.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { BlobAddress } from "./resources.ts";

const rootContainer = "$root";

/** Recorded: the service takes a backslash for a slash, also where it was escaped. Both APIs do, so
 *  that they reach the same paths. */
export function withSlashes(path: string): string {
  return path.includes("\\") ? path.replaceAll("\\", "/") : path;
}

/** `/`, `/container?restype=container`, `/container/blob`, and `/blob` in the root container. */
export function identify(asWritten: string, query: QueryReader): Result<BlobAddress> {
  const times = parseTimes(query);
  if (!times.ok) return times;
  const path = withSlashes(asWritten);
  const at = { container: "", blob: "", ...times.value };
  if (path === "") return ok({ resource: "service", ...at });
  const slash = path.indexOf("/");
  const first = slash < 0 ? path : path.slice(0, slash);
  const rest = slash < 0 ? "" : path.slice(slash + 1);
  if (rest === "" && namesContainer(query)) {
    const named = checkContainerName(first);
    return named.ok ? ok({ resource: "container", ...at, container: first }) : named;
  }
  // Recorded: the name of a container ends without a slash.
  if (rest === "" && slash >= 0) return fail("InvalidUri");
  const container = rest === "" ? rootContainer : first;
  const blob = rest === "" ? first : rest;
  const named = checkContainerName(container);
  if (!named.ok) return named;
  const valid = checkBlobName(blob);
  return valid.ok ? ok({ resource: "blob", ...at, container, blob }) : valid;
}

/** Whether a path of one segment is a container. Get Account Information on a container has
 *  `restype=account`. */
function namesContainer(query: QueryReader): boolean {
  const type = query.get("restype")?.toLowerCase();
  return type === "container" || type === "account";
}

export function signedName({ container, blob }: BlobAddress): SignedName {
  return { name: container || undefined, path: blob || undefined };
}

const noTimes = ok({ snapshot: undefined, versionId: undefined });

function parseTimes(query: QueryReader) {
  const isCurrent = query.get("snapshot") === undefined && query.get("versionid") === undefined;
  if (isCurrent) return noTimes;
  const snapshot = snapshotTime(query, "snapshot");
  if (!snapshot.ok) return snapshot;
  const versionId = snapshotTime(query, "versionid");
  if (!versionId.ok) return versionId;
  if (snapshot.value !== undefined && versionId.value !== undefined) {
    return invalidQuery("versionid", query.get("versionid") ?? "");
  }
  return ok({ snapshot: snapshot.value, versionId: versionId.value });
}
