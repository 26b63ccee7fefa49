import type { FaultCode } from "../../protocol/faults.ts";
import type { RecordView } from "../../operation/view.ts";
import { holds } from "../indexes.ts";

/** Why a container cannot be deleted: something inside is protected, and would go with it. */
export async function firstHold(
  view: RecordView,
  container: bigint,
): Promise<FaultCode | undefined> {
  for await (const batch of view.scan(holds, holds.range([container]))) {
    for (const { record } of batch) {
      if (record.legalHold) return "BlobImmutableDueToLegalHold";
      if (record.until !== undefined && record.until > view.now) return "BlobImmutableDueToPolicy";
    }
  }
  return undefined;
}
