import { whole } from "../../content/plan.ts";
import { metadata } from "../../operation/common-params.ts";
import type { ReceivedBody } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { boolean, header } from "../../protocol/params.ts";
import {
  chooseEncryption,
  encryptionHeaderNames,
  encryptionHeaders,
} from "../shared/blob-encryption.ts";
import { protection } from "../protection/protection.ts";
import { uploads, type HttpHeaders } from "../records.ts";
import { operation } from "../resources.ts";
import { blobHeaders } from "../shared/http-headers.ts";
import { putBlobBytesMax } from "../shared/limits.ts";
import {
  blobKey,
  dropUpload,
  preservePrevious,
  nextVersion,
  versionHeader,
} from "../shared/overwrite.ts";
import { tagsHeader } from "../shared/create-params.ts";
import { blockBlobTier } from "../shared/tier.ts";
import { copiedRecord, remoteSourceProperties, type SourceProperties } from "./copied-record.ts";
import { tagOption } from "./copy-params.ts";
import { remoteSourceOf, sourceMd5, sourceChecksumHeader, wholeSource } from "./source-body.ts";

/** Put Blob with a body that is read from a URL.
 *  learn.microsoft.com/rest/api/storageservices/put-blob-from-url */
export const putBlobFromUrl = operation({
  name: "Put Blob From URL",
  ids: ["BlockBlob_PutBlobFromUrl"],
  route: {
    method: "PUT",
    resource: "blob",
    headers: { "x-ms-blob-type": "BlockBlob", "x-ms-copy-source": true },
  },
  since: "2020-04-08",
  params: {
    metadata,
    headers: blobHeaders,
    tags: tagsHeader,
    tagOption,
    tier: blockBlobTier,
    sourceMd5,
    copiesProperties: header("x-ms-copy-source-blob-properties", boolean),
    protection,
    encryption,
  },
  body: wholeSource(putBlobBytesMax),
  namedResources: [copySource],
  permission: { letters: "cw", resourceType: "o", overwrite: true },
  target: "may-exist",
  conditions: "create",
  conditionFaults: { noETag: "TargetConditionNotMet" },
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
    const { input, source, received, newETag, now, target, readResult } = context;
    const encryptedWith = chooseEncryption(input.encryption, context.scope.container);
    if (!encryptedWith.ok) return encryptedWith;
    const versionId = nextVersion(context);
    const sourceProperties = remoteSourceProperties(remoteSourceOf(source));
    const properties = chooseProperties(sourceProperties, input, received);
    // Unlike Copy Blob, this may replace a blob of another type.
    const before = target?.type === "BlockBlob" ? target : undefined;
    const record = copiedRecord(properties, input, { newETag, now, target: before, versionId });
    if (!record.ok) return record;
    const keptFields = { lease: target?.lease, created: target?.created ?? now };
    return {
      put: { ...record.value, ...keptFields, ...input.protection, ...encryptedWith.value },
      content: whole(received),
      preserve: preservePrevious(context),
      effects: dropUpload(blobKey(context), readResult),
      headers: {
        ...sourceChecksumHeader(received, {
          requestMd5: input.sourceMd5,
          version: context.version,
        }),
        ...encryptionHeaders(encryptedWith.value),
        "x-ms-request-server-encrypted": "true",
        "x-ms-version-id": versionHeader(versionId),
      },
    };
  },
});

interface PropertyInput {
  readonly headers: HttpHeaders;
  readonly copiesProperties: boolean | undefined;
}

/** The properties of the new blob: those of the request take precedence over those of the
 *  source. */
function chooseProperties(
  sourceProperties: SourceProperties,
  { headers: given, copiesProperties }: PropertyInput,
  received: ReceivedBody,
): SourceProperties {
  const copies = copiesProperties !== false;
  const base = copies ? sourceProperties.headers : {};
  const headers: HttpHeaders = {
    contentType: given.contentType ?? base.contentType,
    contentEncoding: given.contentEncoding ?? base.contentEncoding,
    contentLanguage: given.contentLanguage ?? base.contentLanguage,
    contentMd5: given.contentMd5 ?? received.md5,
    cacheControl: given.cacheControl ?? base.cacheControl,
    contentDisposition: given.contentDisposition ?? base.contentDisposition,
  };
  const { tags, metadata: pairs } = sourceProperties;
  return { type: "BlockBlob", headers, metadata: copies ? pairs : [], tags };
}
