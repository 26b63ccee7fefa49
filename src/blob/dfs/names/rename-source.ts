import type { Ticks } from "../../../base/ticks.ts";
import type { CopySource, OwnSource } from "../../../operation/source.ts";
import type { RecordView } from "../../../operation/view.ts";
import { checkWrite, parseConditions } from "../../../protocol/conditions.ts";
import type { Conditions } from "../../../protocol/conditions.ts";
import { parseLeaseId, checkLease } from "../../../protocol/lease.ts";
import type { Param } from "../../../protocol/params.ts";
import { fail, ok } from "../../../protocol/result.ts";
import type { Result } from "../../../protocol/result.ts";
import { checkProtection } from "../../protection/protection.ts";
import { uploads } from "../../records.ts";
import type { BlobRecord, UploadRecord } from "../../records.ts";
import { isHierarchical, resources } from "../../resources.ts";
import type { BlobAddress, ContainerScope } from "../../resources.ts";
import { blobKey } from "../../shared/overwrite.ts";
import { rootName } from "../../tree/find-path.ts";
import { hasBlobsBelow } from "../../shared/prefixes.ts";

export const sourceConditions: Param<Conditions> = {
  sources: [
    "x-ms-source-if-match",
    "x-ms-source-if-none-match",
    "x-ms-source-if-modified-since",
    "x-ms-source-if-unmodified-since",
  ],
  parse: (reader) => parseConditions(reader, "source"),
};

export const sourceLease: Param<string | undefined> = {
  sources: ["x-ms-source-lease-id"],
  parse: (reader) => parseLeaseId(reader, "x-ms-source-lease-id"),
};

/** The path that is renamed. */
export interface RenameSource {
  readonly address: BlobAddress;
  readonly scope: ContainerScope;
  /** Undefined if no record has this path; on a flat account it may still name a directory. */
  readonly record: BlobRecord | undefined;
  readonly upload: UploadRecord | undefined;
}

/** Loads the source. Of two readings of its text, the first is used unless only the other one
 *  exists. With `prefersAlternative` their order is reversed. A reading that the caller may not
 *  access counts as one that does not exist, so that the response does not tell them apart. */
export async function loadSource(
  view: RecordView,
  source: CopySource | undefined,
  prefersAlternative: boolean,
): Promise<Result<RenameSource>> {
  if (source?.kind !== "same-service") return fail("InvalidSourceUri");
  const { alternative } = source;
  const [first, second] =
    alternative !== undefined && prefersAlternative ? [alternative, source] : [source, alternative];
  const loaded = await loadReading(view, first);
  if (second === undefined || (await isPresent(view, loaded))) return loaded;
  const other = await loadReading(view, second);
  return (await isPresent(view, other)) ? other : loaded;
}

async function loadReading(view: RecordView, source: OwnSource): Promise<Result<RenameSource>> {
  const address = source.address as BlobAddress;
  if (address.resource !== "blob") return fail("InvalidSourceUri");
  const loaded = await resources.blob.load(view, { account: source.account, address });
  const allowed = source.authorise(loaded.access);
  if (!allowed.ok) return allowed;
  if (!loaded.scope.ok) return fail("SourcePathNotFound");
  const record = loaded.target as BlobRecord | undefined;
  const scope = loaded.scope.value as ContainerScope;
  return ok({ address, scope, record, upload: await view.get(uploads, blobKey({ scope })) });
}

async function isPresent(view: RecordView, source: Result<RenameSource>): Promise<boolean> {
  if (!source.ok) return false;
  const { record, scope } = source.value;
  return record !== undefined || (!isHierarchical(scope) && hasBlobsBelow(view, scope.key));
}

/** What the request demands of the source. */
interface SourceRequirements {
  readonly sourceConditions: Conditions;
  readonly sourceLease: string | undefined;
}

export function checkSource(
  { scope, record }: RenameSource,
  requirements: SourceRequirements,
  now: Ticks,
): Result<void> {
  if (scope.key.name === rootName) return fail("InvalidRenameSourcePath");
  const { sourceLease: leaseId, sourceConditions: conditions } = requirements;
  const leased = checkLease(record?.lease, leaseId, "match-if-leased", "blob", now);
  if (!leased.ok) return leased;
  const present = record && { etag: record.etag };
  const failedCode = "SourceConditionNotMet";
  const met = checkWrite(conditions, present, { creates: false, failedCode });
  if (!met.ok || record === undefined) return met;
  return checkProtection(record, now);
}
