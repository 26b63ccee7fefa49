import { formatIso } from "../base/dates.ts";
import { invalidQuery } from "../protocol/faults.ts";
import type { Operation } from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { GuardContext } from "../operation/service.ts";
import type { Ticks } from "../base/ticks.ts";
import { checkCopy } from "./copy/check-copy.ts";
import { checkKey } from "./encryption/blob-encryption.ts";
import { checkProtection } from "./protection/protection.ts";
import type { BlobRecord } from "./records.ts";
import type { BlobAddress } from "./resources.ts";
import { archive } from "./tier/rehydration.ts";

const passed = ok(undefined);

/** What holds for every operation on a blob: derived from what it declares, never from its name. */
export function guardBlob(guarded: GuardContext<BlobAddress>): Result<void> {
  const aimed = checkAim(guarded);
  if (!aimed.ok || guarded.target === undefined) return aimed;
  const target = guarded.target as BlobRecord;
  const copied = checkCopy(guarded.operation, target);
  if (!copied.ok) return copied;
  const immutable = checkImmutable(guarded, target);
  if (!immutable.ok) return immutable;
  const opened = checkKey(guarded.operation, target, guarded.input);
  if (!opened.ok) return opened;
  return checkArchived(guarded, target);
}

/** Snapshots and versions are read only, but for operations that say they can be aimed at one. */
function checkAim({ operation, address }: GuardContext<BlobAddress>): Result<void> {
  if (operation.effect !== "writes") return passed;
  const { snapshot, versionId } = address;
  if (snapshot !== undefined && !takes(operation, "?snapshot")) {
    return misaimed("snapshot", snapshot);
  }
  if (versionId !== undefined && !takes(operation, "?versionid")) {
    return misaimed("versionid", versionId);
  }
  return passed;
}

function takes({ params }: Operation, source: string): boolean {
  return Object.values(params).some(({ sources }) => sources.includes(source));
}

function misaimed(name: string, time: Ticks): Result<void> {
  return invalidQuery(name, formatIso(time));
}

/** A write that replaces the blob leaves the protected state as a version, where versions are kept;
 *  all others would change or remove it. */
function checkImmutable(
  { operation, features, now }: GuardContext<BlobAddress>,
  target: BlobRecord,
): Result<void> {
  if (!changesState(operation)) return passed;
  const replaces = operation.target === "may-exist" || operation.target === "must-not-exist";
  return replaces && features.versioning ? passed : checkProtection(target, now);
}

/** Whatever renews the ETag changes the blob; a plain DELETE takes it away. */
function changesState({ effect, etag, route }: Operation): boolean {
  if (effect !== "writes") return false;
  const takesAway = route.method === "DELETE" && route.query?.["comp"] === undefined;
  return etag === "renew" || takesAway;
}

/** The bytes of an archived blob cannot be read. Only whoever answers ranges reads them. */
function checkArchived({ operation }: GuardContext<BlobAddress>, target: BlobRecord): Result<void> {
  if (target.tier !== archive || !operation.success.headers.includes("Content-Range"))
    return passed;
  return fail(target.rehydration === undefined ? "BlobArchived" : "BlobBeingRehydrated");
}
