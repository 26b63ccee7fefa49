import { empty } from "../../content/plan.ts";
import { metadata } from "../../operation/common-params.ts";
import { emptyContent } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { noBody } from "../../operation/operation.ts";
import { required } from "../../protocol/params.ts";
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
import { pageBlobLength, pageTier, sequenceNumber } from "./page-params.ts";

/** Creates a page blob that reads as zeros and has no stored content yet.
 *  learn.microsoft.com/rest/api/storageservices/put-blob */
export const createPageBlob = operation({
  name: "Put Blob",
  ids: ["PageBlob_Create"],
  route: { method: "PUT", resource: "blob", headers: { "x-ms-blob-type": "PageBlob" } },
  since: "2009-09-19",
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
  body: noBody,
  permission: { letters: "cw", resourceType: "o", overwrite: true },
  namespace: "flat",
  target: "may-exist",
  conditions: "create",
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: { content: "replace", generations: "current", pendingCopy: "reject", clientKey: "none" },
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
        type: "PageBlob" as const,
        content: emptyContent,
        headers: input.headers,
        metadata: input.metadata,
        lease: target?.lease,
        tags: input.tags,
        tier: input.tier,
        tierChanged: input.tier === undefined ? undefined : now,
        sequenceNumber: input.sequenceNumber ?? 0n,
        lineage: newETag,
        versionId,
        ...input.protection,
        ...encryptedWith.value,
      },
      content: empty(input.length),
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
