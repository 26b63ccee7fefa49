import { parseSnapshotTime } from "../base/dates.ts";
import type { Ticks } from "../base/ticks.ts";
import type { QueryReader, SignedName } from "../operation/service.ts";
import { invalidQuery } from "../protocol/faults.ts";
import { checkBlobName, checkContainerName } from "../protocol/names.ts";
import { ok, type Result } from "../protocol/result.ts";
import type { BlobAddress } from "./resources.ts";

const rootContainer = "$root";

/** `/`, `/container?restype=container`, `/container/blob`, and `/blob` in the root container. */
export function identify(asWritten: string, query: QueryReader): Result<BlobAddress> {
  const times = parseTimes(query);
  if (!times.ok) return times;
  // Recorded: the service takes a backslash for a slash, also where it was escaped.
  const path = asWritten.includes("\\") ? asWritten.replaceAll("\\", "/") : asWritten;
  const at = { container: "", blob: "", ...times.value };
  if (path === "") return ok({ resource: "service", ...at });
  const slash = path.indexOf("/");
  const first = slash < 0 ? path : path.slice(0, slash);
  const rest = slash < 0 ? "" : path.slice(slash + 1);
  if (rest === "" && (slash >= 0 || namesContainer(query))) {
    const named = checkContainerName(first);
    return named.ok ? ok({ resource: "container", ...at, container: first }) : named;
  }
  const container = rest === "" ? rootContainer : first;
  const blob = rest === "" ? first : rest;
  const named = checkContainerName(container);
  if (!named.ok) return named;
  const valid = checkBlobName(blob);
  return valid.ok ? ok({ resource: "blob", ...at, container, blob }) : valid;
}

function namesContainer(query: QueryReader): boolean {
  return query.get("restype")?.toLowerCase() === "container";
}

export function signedName({ container, blob }: BlobAddress): SignedName {
  return { name: container || undefined, path: blob || undefined };
}

function parseTimes(query: QueryReader) {
  const snapshot = parseTime(query, "snapshot");
  if (!snapshot.ok) return snapshot;
  const versionId = parseTime(query, "versionid");
  if (!versionId.ok) return versionId;
  if (snapshot.value !== undefined && versionId.value !== undefined) {
    return invalidQuery("versionid", query.get("versionid") ?? "");
  }
  return ok({ snapshot: snapshot.value, versionId: versionId.value });
}

function parseTime(query: QueryReader, name: string): Result<Ticks | undefined> {
  const text = query.get(name);
  if (text === undefined || text === "") return ok(undefined);
  const time = parseSnapshotTime(text);
  return time === undefined ? invalidQuery(name, text) : ok(time);
}
