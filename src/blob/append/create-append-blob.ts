import { metadata } from "../../operation/common-params.ts";
import { emptyContent } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { noBody } from "../../operation/operation.ts";
import {
  chooseEncryption,
  createReplyHeaders,
  encryptionHeaders,
} from "../shared/blob-encryption.ts";
import { protection } from "../protection/protection.ts";
import { uploads } from "../records.ts";
import { operation } from "../resources.ts";
import { emptyBody, tagsHeader } from "../shared/create-params.ts";
import { blobOrRequestHeaders } from "../shared/http-headers.ts";
import {
  blobKey,
  dropUpload,
  preservePrevious,
  nextVersion,
  versionHeader,
} from "../shared/overwrite.ts";

/** learn.microsoft.com/rest/api/storageservices/put-blob */
export const createAppendBlob = operation({
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
  body: noBody,
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
    directories: "reject",
  },
  success: { status: 201, headers: createReplyHeaders },
  reads: (view, { scope }) => view.get(uploads, blobKey({ scope })),
  decide: (context) => {
    const { input, target, newETag, now, readResult } = context;
    const encryptedWith = chooseEncryption(input.encryption, context.scope.container);
    if (!encryptedWith.ok) return encryptedWith;
    const versionId = nextVersion(context);
    return {
      put: {
        etag: newETag,
        created: target?.created ?? now,
        type: "AppendBlob" as const,
        content: emptyContent,
        headers: input.headers,
        metadata: input.metadata,
        lease: target?.lease,
        tags: input.tags,
        committedBlockCount: 0,
        versionId,
        ...input.protection,
        ...encryptedWith.value,
      },
      preserve: preservePrevious(context),
      effects: dropUpload(blobKey(context), readResult),
      headers: {
        ...encryptionHeaders(encryptedWith.value),
        "x-ms-request-server-encrypted": "true",
        "x-ms-version-id": versionHeader(versionId),
      },
    };
  },
});
