import { encodeBase64 } from "../../base/base64.ts";
import { metadata } from "../../operation/common-params.ts";
import { encryption } from "../../protocol/encryption.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { crc64Since } from "../../protocol/versions.ts";
import { whole } from "../../content/plan.ts";
import { emptyContent } from "../../content/content-ref.ts";
import {
  chooseEncryption,
  encryptionHeaderNames,
  encryptionHeaders,
} from "../shared/blob-encryption.ts";
import { protection } from "../protection/protection.ts";
import { uploads, type BlobRecord } from "../records.ts";
import { isHierarchical, operation, type ContainerScope } from "../resources.ts";
import { hasFolderMark } from "../tree/directory-record.ts";
import { blobOrRequestHeaders } from "../shared/http-headers.ts";
import { inlineBlobBytesMax, putBlobBytesMax } from "../shared/limits.ts";
import {
  blobKey,
  dropUpload,
  preservePrevious,
  nextVersion,
  versionHeader,
} from "../shared/overwrite.ts";
import { tagsHeader } from "../shared/create-params.ts";
import { blockBlobTier } from "../shared/tier.ts";

/** learn.microsoft.com/rest/api/storageservices/put-blob */
export const putBlockBlob = operation({
  name: "Put Blob",
  ids: ["BlockBlob_Upload"],
  route: {
    method: "PUT",
    resource: "blob",
    headers: { "x-ms-blob-type": "BlockBlob", "x-ms-copy-source": false },
  },
  since: "2009-09-19",
  params: {
    metadata,
    headers: blobOrRequestHeaders,
    tags: tagsHeader,
    tier: blockBlobTier,
    protection,
    encryption,
  },
  body: {
    kind: "content",
    lengthMax: putBlobBytesMax,
    inlineBytesMax: inlineBlobBytesMax,
    md5Always: true,
    md5Header: "x-ms-blob-content-md5",
    nonEmpty: false,
  },
  permission: { letters: "cw", resourceType: "o", overwrite: true },
  target: "may-exist",
  conditions: "create",
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: {
    content: "replace",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "none",
    directories: "recreate",
  },
  success: {
    status: 201,
    headers: [
      "Content-MD5",
      "x-ms-content-crc64",
      "x-ms-request-server-encrypted",
      "x-ms-version-id",
      ...encryptionHeaderNames,
    ],
  },
  reads: (view, { scope }) => view.get(uploads, blobKey({ scope })),
  decide: (context) => {
    const { input, received, target, newETag, now, version, readResult } = context;
    const { headers } = input;
    const md5 = received.md5;
    if (md5 === undefined) throw new Error("the body of Put Blob has no MD5 (md5Always)");
    const encryptedWith = chooseEncryption(input.encryption, context.scope.container);
    if (!encryptedWith.ok) return encryptedWith;
    const directory = directoryOf(context);
    if (!directory.ok) return directory;
    const versionId = nextVersion(context);
    const crc64 = version >= crc64Since ? received.crc64 : undefined;
    return {
      put: {
        etag: newETag,
        created: target?.created ?? now,
        type: "BlockBlob" as const,
        content: emptyContent,
        headers: { ...headers, contentMd5: md5 },
        metadata: input.metadata,
        directory: directory.value,
        lease: target?.lease,
        tags: input.tags,
        tier: input.tier,
        tierChanged: input.tier === undefined ? undefined : now,
        versionId,
        ...input.protection,
        ...encryptedWith.value,
      },
      content: whole(received),
      preserve: preservePrevious(context),
      effects: dropUpload(blobKey(context), readResult),
      headers: {
        "Content-MD5": encodeBase64(md5),
        "x-ms-content-crc64": crc64 && encodeBase64(crc64),
        ...encryptionHeaders(encryptedWith.value),
        "x-ms-request-server-encrypted": "true",
        "x-ms-version-id": versionHeader(versionId),
      },
    };
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
