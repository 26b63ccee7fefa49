import { invalidHeader } from "../protocol/faults.ts";
import { ok, type Result } from "../protocol/result.ts";
import {
  isLaterVersion,
  isVersion,
  isVersionShaped,
  latestVersion,
  type VersionPolicy,
} from "../protocol/versions.ts";
import type { Log } from "../base/world.ts";
import type { Query } from "./query-string.ts";
import type { WireRequest } from "./wire.ts";

/** For anonymous requests without a version; it has every header that readers of public blobs
 *  need. */
const anonymousVersion = "2014-02-14";

/** The version from `api-version`, else from the header, else from the SAS. A request with
 *  credentials and no version gets the latest, as in Azurite. Versions compare as text, so that a
 *  later one includes everything of the newest known one; the response repeats it, as client
 *  libraries expect. */
export function requestVersion(
  { headers }: WireRequest,
  query: Query,
  policy: VersionPolicy,
): Result<string> {
  const given = query.get("api-version") || headers["x-ms-version"] || query.get("sv");
  if (given === undefined || given === "") {
    return ok(headers["authorization"] === undefined ? anonymousVersion : latestVersion);
  }
  if (isVersion(given)) return ok(given);
  if (policy === "any") return ok(isVersionShaped(given) ? given : latestVersion);
  if (policy === "later" && isLaterVersion(given)) return ok(given);
  return invalidHeader("x-ms-version", given);
}

/** Bounds the set below: a client could send any number of versions. */
const warnedVersionsMax = 16;
const warnedVersions = new WeakMap<Log, Set<string>>();

/** Logs a version later than the newest known one, once per version. */
export function warnOfLaterVersion(log: Log, version: string | undefined): void {
  if (version === undefined || isVersion(version) || !isLaterVersion(version)) return;
  const warned = warnedVersions.get(log) ?? new Set();
  if (warned.size >= warnedVersionsMax || warned.has(version)) return;
  warnedVersions.set(log, warned.add(version));
  const fields = { version, newestKnown: latestVersion };
  log.warn(fields, "x-ms-version is later than the newest known one; serving it as the newest");
}
