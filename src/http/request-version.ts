import { invalidHeader, missingHeader } from "../core/faults.ts";
import type { ServiceName } from "../core/operation.ts";
import { ok, type Result } from "../core/result.ts";
import { isVersion, isVersionShaped, latestVersion } from "../core/versions.ts";
import type { Query } from "./query-string.ts";
import type { WireRequest } from "./wire.ts";

export interface VersionOptions {
  readonly service: ServiceName;
  /** Accept versions this release does not know, as its newest. */
  readonly anyVersion: boolean;
}

/** Anonymous readers of public blobs send no version; this one has every header they may need. */
const anonymousVersion = "2014-02-14";

/** `api-version`, then the header, then the version of the signature. */
export function requestVersion(
  { headers }: WireRequest,
  query: Query,
  { service, anyVersion }: VersionOptions,
): Result<string> {
  const given = query.get("api-version") ?? headers["x-ms-version"] ?? query.get("sv");
  if (given === undefined || given === "") {
    const signed = headers["authorization"] !== undefined;
    if (signed && service !== "blob") return missingHeader("x-ms-version");
    return ok(anonymousVersion);
  }
  if (isVersion(given)) return ok(given);
  if (anyVersion) return ok(isVersionShaped(given) ? given : latestVersion);
  return invalidHeader("x-ms-version", given);
}
