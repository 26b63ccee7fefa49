import { checkLease } from "../../protocol/lease.ts";
import type { Conditions } from "../../protocol/conditions.ts";
import { faultMessage, faultStatus } from "../../protocol/faults.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { checkSource } from "../../protocol/source-conditions.ts";
import type { CopySource } from "../../operation/source.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import type { BlobRecord } from "../records.ts";
import { resources } from "../resources.ts";

/** Loads a source that is stored in this server, if the caller may read it. Undefined for a remote
 *  source. */
export async function loadLocalSource(
  view: RecordView,
  source: CopySource | undefined,
): Promise<Result<BlobRecord> | undefined> {
  if (source?.kind !== "same-service") return undefined;
  const { account, address } = source;
  if (address.resource !== "blob") return fail("InvalidSourceBlobUrl");
  const located = await resources.blob.load(view, { account, address });
  const allowed = source.authorise(located.access);
  if (!allowed.ok) return allowed;
  if (!located.scope.ok) return located.scope;
  const record = located.target as BlobRecord | undefined;
  if (record?.directory !== undefined) return fail("OperationNotSupportedOnDirectory");
  return record === undefined ? fail("BlobNotFound") : ok(record);
}

/** Wraps the fault of the source: some copies return its status and message, but not its code. */
export function cannotVerifySource({ fault }: Failure): Failure {
  const detail = { status: faultStatus(fault), message: faultMessage(fault) };
  return fail("CannotVerifyCopySource", detail);
}

export interface SourceRequirements {
  readonly sourceConditions: Conditions;
  readonly sourceLeaseId?: string | undefined;
}

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
