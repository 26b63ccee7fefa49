import { empty, share } from "../../content/plan.ts";
import { metadata, sourceConditions } from "../../operation/common-params.ts";
import type { Effect } from "../../operation/effects.ts";
import { isInfinite, isLocked } from "../../protocol/lease.ts";
import { encryptionScope } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { noBody } from "../../operation/operation.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { withoutSignature, type CopySource } from "../../operation/source.ts";
import { startTransfer } from "../../operation/transfer.ts";
import { isPageBlobLength } from "../page/page-params.ts";
import { protection } from "../protection/protection.ts";
import { storedUpload } from "../block/read-blocks.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { blobKey, dropUpload, heldLease, type OverwriteContext } from "../shared/overwrite.ts";
import {
  blobCreation,
  chooseEncryption,
  createBlob,
  encryptionHeaderNames,
  tagsHeader,
} from "../shared/create-blob.ts";
import { anyTier, archive } from "../tier/rehydration.ts";
import { copiedBlob, remoteSourceProperties, type CopyOptions } from "./copied-blob.ts";
import { rehydratePriority, sealBlob, sourceLeaseId, tagOption } from "./copy-params.ts";
import { checkLocalSource, loadLocalSource, type SourceRequirements } from "./local-source.ts";

/** Copies a blob. A copy within this service shares the content of the source and is complete with
 *  the response. Any other copy continues as a transfer job after the response.
 *  learn.microsoft.com/rest/api/storageservices/copy-blob */
export const copyBlob = operation({
  ...blobCreation,
  name: "Copy Blob",
  ids: ["Blob_StartCopyFromURL"],
  route: { method: "PUT", resource: "blob", headers: { "x-ms-copy-source": true } },
  since: "2009-09-19",
  params: {
    metadata,
    tags: tagsHeader,
    tagOption,
    tier: anyTier,
    encryption: encryptionScope,
    priority: rehydratePriority,
    seal: sealBlob,
    sourceConditions,
    sourceLeaseId,
    protection,
  },
  body: noBody,
  namedResources: [copySource],
  // Recorded up to 2021; the newest libraries expect ConditionNotMet.
  conditionFaults: { any: "TargetConditionNotMet", anyUntil: "2025-11-05" },
  ifNoneMatchAny: "last",
  policy: { ...blobCreation.policy, event: "CopyBlob" },
  success: {
    status: 202,
    headers: ["x-ms-copy-id", "x-ms-copy-status", "x-ms-version-id", ...encryptionHeaderNames],
  },
  reads: async (view, { scope, source }) => ({
    upload: await storedUpload(view, scope),
    local: await loadLocalSource(view, source),
  }),
  decide: (context) => {
    const { input, source, readResult, newGuid } = context;
    if (source === undefined) throw new Error("Copy Blob has no source");
    const id = newGuid();
    const copied = copyFrom(context, { id, source, local: readResult.local, input });
    if (!copied.ok) return copied;
    const encryptedWith = chooseEncryption(input.encryption, context.scope.container);
    if (!encryptedWith.ok) return encryptedWith;
    const { blob, content, effects } = copied.value;
    return createBlob(context, blob, {
      encryptedWith: encryptedWith.value,
      content,
      effects: [...dropUpload(blobKey(context), readResult.upload), ...effects],
      headers: { "x-ms-copy-id": id, "x-ms-copy-status": blob.copy.status },
    });
  },
});

/** A copy and its source. */
interface CopyRequest {
  readonly id: string;
  readonly source: CopySource;
  // The loaded source; undefined if the source is not in this service.
  readonly local: Result<BlobRecord> | undefined;
  readonly input: CopyOptions & SourceRequirements;
}

function copyFrom(context: OverwriteContext, copying: CopyRequest) {
  const { local, source } = copying;
  if (source.kind === "same-service") {
    if (local === undefined)
      throw new Error("the source of a copy within the server is not loaded");
    return local.ok ? copyWithinServer(context, copying, local.value) : local;
  }
  return startRemoteCopy(context, copying, source);
}

function copyWithinServer(
  context: OverwriteContext,
  { id, source, input }: CopyRequest,
  original: BlobRecord,
) {
  const { now } = context;
  const allowed = checkLocalSource(original, input, now);
  if (!allowed.ok) return allowed;
  const blob = copiedBlob(original, input, context);
  if (!blob.ok) return blob;
  const bytes = original.content.length;
  const state = { id, source: source.url, copiedBytes: bytes, totalBytes: bytes, completed: now };
  return ok({
    blob: { ...blob.value, copy: { ...state, status: "success" as const } },
    content: share(original.content),
    effects: [] as readonly Effect[],
  });
}

/** Creates the empty target with copy status `pending`, and the transfer job. The target can be
 *  neither written nor leased until the job is complete. */
function startRemoteCopy(
  context: OverwriteContext,
  { id, input }: CopyRequest,
  { url, otherService, properties }: Extract<CopySource, { kind: "fetched" }>,
) {
  const { now } = context;
  const lease = heldLease(context);
  if (lease !== undefined && isLocked(lease, now) && !isInfinite(lease)) {
    return fail("InfiniteLeaseDurationRequired");
  }
  // The bytes of an archived blob cannot be read, whatever the tier of the copy is.
  if (properties.header("x-ms-access-tier") === archive) return fail("BlobArchived");
  const original = remoteSourceProperties(properties);
  const totalBytes = properties.length ?? 0;
  if (original.type === "PageBlob" && !isPageBlobLength(totalBytes)) {
    return fail("CannotVerifyCopySource", { status: 400 });
  }
  const blob = copiedBlob(original, input, context);
  if (!blob.ok) return blob;
  const { container, name } = blobKey(context);
  const etag = properties.header("etag");
  const job = startTransfer({
    id,
    kind: "blob-copy",
    scope: [container, name],
    account: context.scope.account.id,
    url,
    headers: etag === undefined || etag.startsWith("W/") ? {} : { "if-match": etag },
    length: properties.length,
    own: otherService,
  });
  const source = withoutSignature(url);
  const copy = { id, source, status: "pending" as const, copiedBytes: 0, totalBytes };
  return ok({
    blob: { ...blob.value, copy },
    content: empty(original.type === "PageBlob" ? totalBytes : 0),
    effects: [job] as readonly Effect[],
  });
}
