import { share } from "../../content/content-ref.ts";
import { put } from "../../operation/effects.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { unverifiedSource } from "../../protocol/source-conditions.ts";
import type { CopySource } from "../../operation/source.ts";
import { parseSnapshotTime } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import { addCleared, clearedSince } from "../page/cleared-ranges.ts";
import { generations, type BlobRecord } from "../records.ts";
import { operation, type BlobAddress } from "../resources.ts";
import { blobCreation, chooseEncryption, newBlobRecord } from "../shared/create-blob.ts";
import { blobKey, preservePrevious, versionHeader } from "../shared/overwrite.ts";
import { copiedBlob } from "./copied-blob.ts";
import { sourceConditions } from "../../operation/common-params.ts";
import { checkLocalSource, loadLocalSource } from "./local-source.ts";

/** Incremental Copy Blob: copies a snapshot of a page blob, as backups of disks do again and again.
 *  The copies share their content with the source. */

/** Incremental Copy Blob has no headers for scope, key or properties: the default scope of the
 *  container and the properties of the source apply. */
const noEncryption = { clientKey: undefined, scope: undefined };
const noOptions = { metadata: [], tags: undefined, tier: undefined };

/** Copies a snapshot of a page blob to the target and takes a snapshot of the target. The content
 *  is shared, so the copy is complete at once; the response says `pending`, as that of the service
 *  does. learn.microsoft.com/rest/api/storageservices/incremental-copy-blob */
export const incrementalCopyBlob = operation({
  ...blobCreation,
  name: "Incremental Copy Blob",
  ids: ["PageBlob_CopyIncremental"],
  route: { method: "PUT", resource: "blob", query: { comp: "incrementalcopy" } },
  since: "2016-05-31",
  params: { sourceConditions },
  namedResources: [copySource],
  namespace: "flat",
  conditions: "write",
  conditionFaults: { noETag: "TargetConditionNotMet" },
  policy: { ...blobCreation.policy, event: "CopyBlob", incrementalCopy: true },
  status: 202,
  reads: (view, { source }) => loadLocalSource(view, source),
  decide: (context) => {
    const { scope, target, input, source, readResult, newETag, now, newGuid } = context;
    if (source === undefined || readResult === undefined) {
      // The source must be a blob snapshot of this server.
      return fail("CannotVerifyCopySource", { status: 400 });
    }
    if (!readResult.ok) return unverifiedSource(readResult, context.version);
    const sourceRecord = readResult.value;
    const allowed = checkLocalSource(sourceRecord, input, now);
    if (!allowed.ok) return allowed;
    const follows = checkSnapshotOrder(target, sourceRecord, source);
    if (!follows.ok) return follows;
    const blob = copiedBlob(sourceRecord, noOptions, context);
    if (!blob.ok) return blob;
    const encrypted = chooseEncryption(noEncryption, scope.container);
    if (!encrypted.ok) return encrypted;
    const id = newGuid();
    const bytes = sourceRecord.content.length;
    const state = { id, source: source.url, copiedBytes: bytes, totalBytes: bytes, completed: now };
    const copy = { ...state, status: "success" as const, destinationSnapshot: newETag };
    const lineage = target?.lineage ?? newETag;
    const content = share(sourceRecord.content);
    const created = newBlobRecord(context, { ...blob.value, copy, lineage });
    const cleared = clearedByCopy(target, sourceRecord, newETag);
    const record = { ...created, ...encrypted.value, cleared, incrementalCopy: true as const };
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
        "x-ms-version-id": versionHeader(created.versionId),
      },
    };
  },
});

/** Each copy to a target must be of the same source blob, and of a snapshot that is not older than
 *  that of the previous copy. */
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
    ? fail("IncrementalCopyOfEarlierSnapshotNotAllowed")
    : ok(undefined);
}

/** The cleared ranges of the target, for Get Page Ranges Diff. Pages of the source that were
 *  cleared since the previous copy are cleared in the target now. */
function clearedByCopy(target: BlobRecord | undefined, source: BlobRecord, now: Ticks) {
  const last = target?.copy && snapshotOf(target.copy.source);
  if (target === undefined || last === undefined) return undefined;
  let { cleared } = target;
  for (const [from, end] of clearedSince(source.cleared, last)) {
    cleared = addCleared(cleared, [from, end, now]);
  }
  return cleared;
}

function withoutQuery(url: string): string {
  return url.split("?", 1)[0] ?? url;
}

function snapshotOf(url: string): Ticks | undefined {
  return parseSnapshotTime(URL.parse(url)?.searchParams.get("snapshot") ?? "");
}
