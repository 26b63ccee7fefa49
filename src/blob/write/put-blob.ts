import { inlineWholeBytesMax, empty, whole } from "../../content/content-ref.ts";
import { metadata } from "../../operation/common-params.ts";
import { encryption } from "../../protocol/encryption.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { required } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import {
  blobCreation,
  blockBlobParams,
  createBlob,
  emptyBody,
  serverEncrypted,
  tagsHeader,
  blobOrRequestHeaders,
  bothChecksums,
} from "../shared/create-blob.ts";
import { pageBlobLength, pageTier, sequenceNumber } from "../page/put-page.ts";
import { protection } from "../protection/protection.ts";
import { storedUpload } from "../block/read-blocks.ts";
import { blobBytes, uploadBytes, type BlobRecord } from "../records.ts";
import { isHierarchical, operation, type ContainerScope } from "../resources.ts";
import { hasFolderMark } from "../tree/create-parents.ts";
import { putBlobBytesMax } from "../shared/limits.ts";

/** Put Blob: a declaration for each type of blob, because they have different parameters and
 *  bodies. learn.microsoft.com/rest/api/storageservices/put-blob */

export const putBlockBlob = operation({
  ...blobCreation,
  name: "Put Blob",
  ids: ["BlockBlob_Upload"],
  route: {
    method: "PUT",
    resource: "blob",
    headers: { "x-ms-blob-type": "BlockBlob", "x-ms-copy-source": false },
  },
  params: { ...blockBlobParams, headers: blobOrRequestHeaders },
  body: {
    kind: "content",
    lengthMax: putBlobBytesMax,
    inlineBytesMax: inlineWholeBytesMax,
    md5Always: true,
    md5Header: "x-ms-blob-content-md5",
    nonEmpty: false,
  },
  policy: { ...blobCreation.policy, directories: "recreate" },
  status: 201,
  freedBytes: async (view, { scope, target }) => {
    const upload = await storedUpload(view, scope);
    const ofUpload = upload === undefined ? 0 : uploadBytes(upload);
    return ofUpload + (target === undefined ? 0 : blobBytes(target));
  },
  reads: (view, { scope }) => storedUpload(view, scope),
  decide: (context) => {
    const { input, received, version, readResult } = context;
    const { headers, tags, tier } = input;
    const contentMd5 = received.md5;
    if (contentMd5 === undefined) throw new Error("the body of Put Blob has no MD5 (md5Always)");
    const directory = directoryOf(context);
    const blob = {
      type: "BlockBlob" as const,
      headers: { ...headers, contentMd5 },
      metadata: input.metadata,
      directory: directory.ok ? directory.value : undefined,
      tags,
      tier,
    };
    return createBlob(context, directory.ok ? ok(blob) : directory, {
      content: whole(received),
      upload: readResult,
      headers: [bothChecksums(received, version), serverEncrypted],
    });
  },
});

interface Placement {
  readonly scope: ContainerScope;
  readonly target: BlobRecord | undefined;
  readonly input: { readonly metadata: Metadata };
  readonly received: { readonly length: number };
  readonly newId: () => bigint;
}

/** On hierarchical accounts, an empty blob with the folder mark in its metadata becomes a
 *  directory. An existing directory keeps its id, by which its entries are keyed. */
function directoryOf(placement: Placement): Result<bigint | undefined> {
  const { scope, target, input, received, newId } = placement;
  if (!isHierarchical(scope) || !hasFolderMark(input.metadata)) return ok(undefined);
  const isDirectory = target?.directory !== undefined;
  if (target !== undefined && !isDirectory) return fail("PathConflict");
  if (received.length > 0) return isDirectory ? fail("PathConflict") : ok(undefined);
  return ok(target?.directory ?? newId());
}

/** Creates a page blob that reads as zeros and has no stored content yet. */
export const createPageBlob = operation({
  ...blobCreation,
  name: "Put Blob",
  ids: ["PageBlob_Create"],
  route: { method: "PUT", resource: "blob", headers: { "x-ms-blob-type": "PageBlob" } },
  params: {
    emptyBody,
    length: required(pageBlobLength),
    sequenceNumber,
    metadata,
    headers: blobOrRequestHeaders,
    tags: tagsHeader,
    tier: pageTier,
    protection,
    encryption,
  },
  namespace: "flat",
  status: 201,
  reads: (view, { scope }) => storedUpload(view, scope),
  decide: (context) => {
    const { input, newETag, readResult } = context;
    const { headers, tags, tier } = input;
    const blob = {
      type: "PageBlob" as const,
      headers,
      metadata: input.metadata,
      tags,
      tier,
      sequenceNumber: input.sequenceNumber ?? 0n,
      lineage: newETag,
    };
    return createBlob(context, ok(blob), {
      content: empty(input.length),
      upload: readResult,
      headers: [serverEncrypted],
    });
  },
});

export const createAppendBlob = operation({
  ...blobCreation,
  name: "Put Blob",
  ids: ["AppendBlob_Create"],
  route: { method: "PUT", resource: "blob", headers: { "x-ms-blob-type": "AppendBlob" } },
  since: "2015-02-21",
  params: {
    emptyBody,
    metadata,
    headers: blobOrRequestHeaders,
    tags: tagsHeader,
    protection,
    encryption,
  },
  status: 201,
  reads: (view, { scope }) => storedUpload(view, scope),
  decide: (context) => {
    const { input, readResult } = context;
    const { headers, tags } = input;
    const { metadata: pairs } = input;
    const blob = { type: "AppendBlob" as const, headers, metadata: pairs, tags };
    const parts = { upload: readResult, headers: [serverEncrypted] };
    return createBlob(context, ok({ ...blob, committedBlockCount: 0 }), parts);
  },
});
