import { invalidHeader } from "../core/faults.ts";
import { ok, type Result } from "../core/result.ts";
import { isVersion, isVersionShaped, latestVersion } from "../core/versions.ts";
import type { Query } from "./query-string.ts";
import type { WireRequest } from "./wire.ts";

export interface VersionOptions {
  /** Accept versions this release does not know, as its newest. */
  readonly anyVersion: boolean;
}

/** Anonymous readers of public blobs send no version; this one has every header they may need. */
const anonymousVersion = "2014-02-14";

/** `api-version`, then the header, then the version of the signature. A request with credentials
 *  and no version has the latest, as in Azurite. */
export function requestVersion(
  { headers }: WireRequest,
  query: Query,
  { anyVersion }: VersionOptions,
): Result<string> {
  const given = query.get("api-version") ?? headers["x-ms-version"] ?? query.get("sv");
  if (given === undefined || given === "") {
    return ok(headers["authorization"] === undefined ? anonymousVersion : latestVersion);
  }
  if (isVersion(given)) return ok(given);
  if (anyVersion) return ok(isVersionShaped(given) ? given : latestVersion);
  return invalidHeader("x-ms-version", given);
}
