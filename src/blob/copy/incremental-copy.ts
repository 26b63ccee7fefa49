import { share } from "../../content/plan.ts";
import { put } from "../../operation/effects.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { noBody } from "../../operation/operation.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { CopySource } from "../../operation/source.ts";
import { parseSnapshotTime } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import { generations, type BlobRecord } from "../records.ts";
import { operation, type BlobAddress } from "../resources.ts";
import { blobKey, preservePrevious, nextVersion, versionHeader } from "../shared/overwrite.ts";
import { copiedRecord } from "./copied-record.ts";
import { sourceConditions } from "./copy-params.ts";
import { checkLocalSource, loadLocalSource, cannotVerifySource } from "./local-source.ts";

const noOptions = { metadata: [], tags: undefined, tier: undefined };

/** Copies a snapshot of a page blob to the target and takes a snapshot of the target. The content
 *  is shared, so the copy is complete at once; the response says `pending`, as that of the service
 *  does. learn.microsoft.com/rest/api/storageservices/incremental-copy-blob */
export const incrementalCopyBlob = operation({
  name: "Incremental Copy Blob",
  ids: ["PageBlob_CopyIncremental"],
  route: { method: "PUT", resource: "blob", query: { comp: "incrementalcopy" } },
  since: "2016-05-31",
  params: { sourceConditions },
  body: noBody,
  namedResources: [copySource],
  permission: { letters: "cw", resourceType: "o", overwrite: true },
  namespace: "flat",
  target: "may-exist",
  conditions: "write",
  conditionFaults: { noETag: "TargetConditionNotMet" },
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: {
    content: "replace",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "none",
    incrementalCopy: true,
  },
  success: { status: 202, headers: ["x-ms-copy-id", "x-ms-copy-status", "x-ms-version-id"] },
  reads: (view, { source }) => loadLocalSource(view, source),
  decide: (context) => {
    const { target, input, source, readResult, newETag, now, newGuid } = context;
    if (source === undefined || readResult === undefined) {
      // Only a blob snapshot of this server can be copied incrementally.
      return fail("CannotVerifyCopySource", { status: 400 });
    }
    if (!readResult.ok) return cannotVerifySource(readResult);
    const sourceRecord = readResult.value;
    const allowed = checkLocalSource(sourceRecord, input, now);
    if (!allowed.ok) return allowed;
    const follows = checkSnapshotOrder(target, sourceRecord, source);
    if (!follows.ok) return follows;
    const versionId = nextVersion(context);
    const prepared = copiedRecord(sourceRecord, noOptions, { newETag, now, target, versionId });
    if (!prepared.ok) return prepared;
    const id = newGuid();
    const bytes = sourceRecord.content.length;
    const state = { id, source: source.url, copiedBytes: bytes, totalBytes: bytes, completed: now };
    const copy = { ...state, status: "success" as const, destinationSnapshot: newETag };
    const lineage = target?.lineage ?? newETag;
    const record = { ...prepared.value, copy, lineage, incrementalCopy: true as const };
    const content = share(sourceRecord.content);
    const snapshotFields = { lease: undefined, versionId: undefined, snapshot: newETag };
    const key = { ...blobKey(context), at: newETag, kind: "snapshot" as const };
    return {
      put: record,
      content,
      preserve: preservePrevious(context),
      effects: [put(generations, key, { ...record, ...snapshotFields }, content)],
      headers: {
        "x-ms-copy-id": id,
        "x-ms-copy-status": "pending",
        "x-ms-version-id": versionHeader(versionId),
      },
    };
  },
});

/** Each copy to a target must be of the same source blob, and of a snapshot that is not older than
 *  that of the copy before. */
function checkSnapshotOrder(
  target: BlobRecord | undefined,
  sourceRecord: BlobRecord,
  source: CopySource,
): Result<undefined> {
  const { snapshot } = sourceRecord;
  if (snapshot === undefined) return fail("IncrementalCopySourceMustBeSnapshot");
  if (sourceRecord.type !== "PageBlob") return fail("InvalidSourceBlobType");
  const last = target?.copy;
  if (target === undefined) return ok(undefined);
  if (target.incrementalCopy !== true || last === undefined) {
    return fail("IncrementalCopyBlobMismatch");
  }
  if (withoutQuery(last.source) !== withoutQuery(source.url))
    return fail("IncrementalCopyBlobMismatch");
  const { address } = source as Extract<CopySource, { kind: "same-service" }>;
  const snapshotTime = (address as BlobAddress).snapshot ?? snapshot;
  const lastSnapshotTime = snapshotOf(last.source);
  return lastSnapshotTime !== undefined && snapshotTime < lastSnapshotTime
    ? fail("IncrementalCopyOfEarlierVersionSnapshotNotAllowed")
    : ok(undefined);
}

function withoutQuery(url: string): string {
  return url.split("?", 1)[0] ?? url;
}

function snapshotOf(url: string): Ticks | undefined {
  return parseSnapshotTime(URL.parse(url)?.searchParams.get("snapshot") ?? "");
}
