import { empty, share } from "../../content/content-ref.ts";
import { metadata, sourceConditions } from "../../operation/common-params.ts";
import type { Effect } from "../../operation/effects.ts";
import { isInfinite, isLocked } from "../../protocol/lease.ts";
import { encryptionScope } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { withoutSignature, type CopySource } from "../../operation/source.ts";
import type { TransferJob } from "../../operation/transfer-handler.ts";
import { startTransfer, dropTransfer } from "../../operation/transfer.ts";
import { isPageBlobLength } from "../page/put-page.ts";
import { protection } from "../protection/protection.ts";
import { storedUpload } from "../block/read-blocks.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { blobKey, heldLease, type OverwriteContext } from "../shared/overwrite.ts";
import { blobCreation, chooseEncryption, createBlob, tagsHeader } from "../shared/create-blob.ts";
import { anyTier, archive } from "../tier/rehydration.ts";
import {
  copiedBlob,
  rehydratePriority,
  remoteSourceProperties,
  sealBlob,
  sourceLeaseId,
  tagOption,
  type CopyOptions,
} from "./copied-blob.ts";
import { checkLocalSource, loadLocalSource, type SourceRequirements } from "./local-source.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { query, required } from "../../protocol/params.ts";

/** Copy Blob and Abort Copy Blob. A copy within this service shares the content of its source; the
 *  bytes of any other copy are fetched after the response (`transfer.ts`). */

/** Copies a blob or a file of this or another account.
 *  learn.microsoft.com/rest/api/storageservices/copy-blob */
export const copyBlob = operation({
  ...blobCreation,
  name: "Copy Blob",
  ids: ["Blob_StartCopyFromURL"],
  route: { method: "PUT", resource: "blob", headers: { "x-ms-copy-source": true } },
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
  namedResources: [copySource],
  // The fault if a condition on the target fails. Recorded from Azure for versions up to 2021; the
  // newest client libraries expect ConditionNotMet.
  conditionFaults: { any: "TargetConditionNotMet", anyUntil: "2025-11-05" },
  ifNoneMatchAny: "last",
  policy: { ...blobCreation.policy, event: "CopyBlob" },
  status: 202,
  reads: async (view, { scope, source }) => ({
    upload: await storedUpload(view, scope),
    local: await loadLocalSource(view, source),
  }),
  decide: (context) => {
    const { input, source, readResult, newGuid } = context;
    if (source === undefined) throw new Error("Copy Blob has no source");
    const id = newGuid();
    const encryptedWith = chooseEncryption(input.encryption, context.scope.container);
    const { encryptionScope: newScope } = encryptedWith.ok ? encryptedWith.value : {};
    const copied = copyFrom(context, { id, source, local: readResult.local, input, newScope });
    if (!copied.ok) return copied;
    const { blob, content, effects } = copied.value;
    return createBlob(context, ok(blob), {
      content,
      upload: readResult.upload,
      effects,
      headers: [{ "x-ms-copy-id": id, "x-ms-copy-status": blob.copy.status }],
    });
  },
});

/** The parts of a Copy Blob request that both kinds of copies, local and remote, depend on. */
interface CopyRequest {
  readonly id: string;
  readonly source: CopySource;
  // The loaded source; undefined if the source is not in this service.
  readonly local: Result<BlobRecord> | undefined;
  readonly input: CopyOptions & SourceRequirements;
  /** The encryption scope of the copy; undefined if it has none. */
  readonly newScope: string | undefined;
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
  { id, source, input, newScope }: CopyRequest,
  original: BlobRecord,
) {
  const { now } = context;
  const allowed = checkLocalSource(original, input, now);
  if (!allowed.ok) return allowed;
  const blob = copiedBlob(original, input, context);
  if (!blob.ok) return blob;
  const bytes = original.content.length;
  if (mustEncryptAgain(source, original, newScope)) {
    const copy = { id, source: source.url, status: "pending" as const };
    const job = startCopyJob(context, {
      id,
      url: source.url,
      headers: {},
      length: bytes,
      encryptionScope: newScope,
      isOwnContent: true,
    });
    return ok({
      blob: { ...blob.value, copy: { ...copy, copiedBytes: 0, totalBytes: bytes } },
      content: share(original.content),
      effects: [job] as readonly Effect[],
    });
  }
  const state = { id, source: source.url, copiedBytes: bytes, totalBytes: bytes, completed: now };
  return ok({
    blob: { ...blob.value, copy: { ...state, status: "success" as const } },
    content: share(original.content),
    effects: [] as readonly Effect[],
  });
}

/** Whether the copy must be encrypted with another key than the source. The copy then shares the
 *  content of the source only until a transfer job has stored it again with the right key. */
function mustEncryptAgain(
  source: CopySource,
  { encryptionScope: oldScope, content }: BlobRecord,
  newScope: string | undefined,
): boolean {
  if (source.kind !== "same-service" || !source.hasScopeKeys || content.length === 0) return false;
  return oldScope !== newScope || (newScope !== undefined && !source.isSameAccount);
}

/** Creates the empty target with copy status `pending`, and the transfer job, which fetches the
 *  bytes later. The target can be neither written nor leased until the job is complete. */
function startRemoteCopy(
  context: OverwriteContext,
  { id, input, newScope }: CopyRequest,
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
  const etag = properties.header("etag");
  const job = startCopyJob(context, {
    id,
    url,
    headers: etag === undefined || etag.startsWith("W/") ? {} : { "if-match": etag },
    length: properties.length,
    own: otherService,
    encryptionScope: newScope,
  });
  const source = withoutSignature(url);
  const copy = { id, source, status: "pending" as const, copiedBytes: 0, totalBytes };
  return ok({
    blob: { ...blob.value, copy },
    content: empty(original.type === "PageBlob" ? totalBytes : 0),
    effects: [job] as readonly Effect[],
  });
}

/** Stores the transfer job that completes a copy to the addressed blob after the response. */
function startCopyJob(context: OverwriteContext, job: Omit<TransferJob, "kind" | "scope">): Effect {
  const { container, name } = blobKey(context);
  const account = context.scope.account.id;
  return startTransfer({ kind: "blob-copy", scope: [container, name], account, ...job });
}

/** Abort Copy Blob: ends a pending copy. The target stays as an empty blob with the metadata of the
 *  copy. learn.microsoft.com/rest/api/storageservices/abort-copy-blob */
export const abortCopyBlob = operation({
  name: "Abort Copy Blob",
  ids: ["Blob_AbortCopyFromURL"],
  route: {
    method: "PUT",
    resource: "blob",
    query: { comp: "copy" },
    headers: { "x-ms-copy-action": "abort" },
  },
  since: "2012-02-12",
  params: { copyId: required(query("copyid", parseGuid, "copyid needs to be valid Guid.")) },
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  policy: {
    content: "none",
    generations: "current",
    pendingCopy: "allow",
    clientKey: "none",
    directories: "reject",
    event: "AbortCopyBlob",
  },
  status: 204,
  decide: ({ target, input, newETag, now }) => {
    const { copy } = target;
    if (copy?.status !== "pending") return fail("NoPendingCopyOperation");
    if (copy.id !== input.copyId) return fail("CopyIdMismatch");
    const aborted = { ...copy, status: "aborted" as const, completed: now };
    return {
      put: { ...target, etag: newETag, copy: aborted },
      content: empty(0),
      effects: [dropTransfer(copy.id)],
    };
  },
});
