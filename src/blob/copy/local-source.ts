import { checkLease } from "../../protocol/lease.ts";
import type { Conditions } from "../../protocol/conditions.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { checkSource } from "../../protocol/source-conditions.ts";
import type { CopySource } from "../../operation/source.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import type { BlobRecord } from "../records.ts";
import { resources } from "../resources.ts";

/** Copy sources that are stored in this service: loaded and checked in the transaction of the copy,
 *  so that the copy has exactly one state of the source. Copy Blob and Incremental Copy Blob use
 *  it. */

/** Loads a copy source that is stored in this service; a fault if it does not exist or the caller
 *  may not read it. Undefined if the source is elsewhere or there is none. */
export async function loadLocalSource(
  view: RecordView,
  source: CopySource | undefined,
): Promise<Result<BlobRecord> | undefined> {
  if (source?.kind !== "same-service") return undefined;
  const { account, address } = source;
  if (address.resource !== "blob") return fail("InvalidSourceBlobUrl");
  const loaded = await resources.blob.load(view, { account, address });
  const allowed = source.authorise(loaded.access);
  if (!allowed.ok) return allowed;
  if (!loaded.scope.ok) return loaded.scope;
  const record = loaded.target as BlobRecord | undefined;
  if (record?.directory !== undefined) return fail("OperationNotSupportedOnDirectory");
  return record === undefined ? fail("BlobNotFound") : ok(record);
}

/** What a copy request demands of its source: conditions and lease id. */
export interface SourceRequirements {
  readonly sourceConditions: Conditions;
  readonly sourceLeaseId?: string | undefined;
}

/** Checks lease id and conditions of a source. One that is encrypted with a client's key cannot be
 *  copied: the request has no place for that key. */
export function checkLocalSource(
  record: BlobRecord,
  { sourceConditions, sourceLeaseId }: SourceRequirements,
  now: Ticks,
): Result<undefined> {
  const leased = checkLease(record.lease, sourceLeaseId, "match-if-given", "blob", now);
  if (!leased.ok) return leased;
  if (record.keySha256 !== undefined) return fail("BlobUsesCustomerSpecifiedEncryption");
  return checkSource(sourceConditions, { etag: record.etag, tags: record.tags }, "copy");
}
