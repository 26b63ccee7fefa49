import { whole, inlineWholeBytesMax, type ReceivedBody } from "../../content/content-ref.ts";
import { metadata } from "../../operation/common-params.ts";
import { encryption, encryptionScope } from "../../protocol/encryption.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { boolean, header, text } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";
import { crc64Since } from "../../protocol/versions.ts";
import type { CopySource, FetchedProperties, SourceBody } from "../../operation/source.ts";
import {
  blobCreation,
  createBlob,
  serverEncrypted,
  tagsHeader,
  blobHeaders,
  bodyChecksum,
} from "../shared/create-blob.ts";
import { protection } from "../protection/protection.ts";
import { storedUpload } from "../block/read-blocks.ts";
import { operation } from "../resources.ts";
import { putBlobBytesMax, syncCopyBytesMax } from "../shared/limits.ts";
import { blockBlobTier } from "../tier/rehydration.ts";
import {
  copiedBlob,
  remoteSourceProperties,
  tagOption,
  type SourceProperties,
} from "./copied-blob.ts";
import type { HttpHeaders } from "../../protocol/metadata.ts";

/** Put Blob From URL and Copy Blob From URL: create a blob from the bytes at a URL while the client
 *  waits. `http/source/` has fetched and stored the bytes before the decision. */

/** Body declaration of Put Blob From URL and Copy Blob From URL: all bytes at a URL. */
const wholeSource: Omit<SourceBody, "lengthMax"> = {
  kind: "source",
  inlineBytesMax: inlineWholeBytesMax,
  style: "blob-from-url",
  range: "none",
  md5Always: true,
};

/** `x-ms-source-content-md5`: the MD5 that the source must have. A response to a request with it
 *  has the MD5, any other the CRC64 (in older versions the MD5). The MD5 is stored in both
 *  cases. */
const sourceMd5 = header("x-ms-source-content-md5", text);

/** What the declarations of Put Blob From URL and Copy Blob From URL have in common. */
const creationFromUrl = {
  ...blobCreation,
  namedResources: [copySource],
  conditionFaults: { noETag: "TargetConditionNotMet" },
  ifNoneMatchAny: "last",
} as const;

/** Put Blob with a body that is read from a URL.
 *  learn.microsoft.com/rest/api/storageservices/put-blob-from-url */
export const putBlobFromUrl = operation({
  ...creationFromUrl,
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
  body: { ...wholeSource, lengthMax: putBlobBytesMax },
  status: 201,
  reads: (view, { scope }) => storedUpload(view, scope),
  decide: (context) => {
    const { input, source, received, target, readResult } = context;
    const sourceProperties = remoteSourceProperties(remoteSourceOf(source));
    const properties = chooseProperties(sourceProperties, input, received);
    // Unlike Copy Blob, Put Blob From URL may replace a blob of another type.
    const replaced = target?.type === "BlockBlob" ? target : undefined;
    const blob = copiedBlob(properties, input, { ...context, target: replaced });
    return createBlob(context, blob, {
      content: whole(received),
      upload: readResult,
      headers: [sourceChecksum(context), serverEncrypted],
    });
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

/** Copies while the client waits: the response is sent after the copy is complete.
 *  learn.microsoft.com/rest/api/storageservices/copy-blob-from-url */
export const copyBlobFromUrl = operation({
  ...creationFromUrl,
  policy: { ...blobCreation.policy, event: "CopyBlob" },
  name: "Copy Blob From URL",
  ids: ["Blob_CopyFromURL"],
  route: {
    method: "PUT",
    resource: "blob",
    headers: { "x-ms-copy-source": true, "x-ms-requires-sync": "true" },
  },
  since: "2018-03-28",
  params: {
    metadata,
    tags: tagsHeader,
    tagOption,
    tier: blockBlobTier,
    sourceMd5,
    protection,
    encryption: encryptionScope,
  },
  body: { ...wholeSource, lengthMax: () => syncCopyBytesMax, onlyBlockBlobs: true },
  status: 202,
  reads: (view, { scope }) => storedUpload(view, scope),
  decide: (context) => {
    const { input, source, received, now, readResult, newGuid } = context;
    const original = remoteSourceProperties(remoteSourceOf(source));
    const blob = copiedBlob({ ...original, type: "BlockBlob" }, input, context);
    const id = newGuid();
    const { length } = received;
    const state = { id, source: source?.url ?? "", copiedBytes: length, totalBytes: length };
    const copy = { ...state, status: "success" as const, completed: now };
    return createBlob(context, blob.ok ? ok({ ...blob.value, copy }) : blob, {
      content: whole(received),
      upload: readResult,
      headers: [
        sourceChecksum(context),
        { "x-ms-copy-id": id, "x-ms-copy-status": "success" },
        serverEncrypted,
      ],
    });
  },
});

interface ChecksumContext {
  readonly received: ReceivedBody;
  readonly input: { readonly sourceMd5: string | undefined };
  readonly version: string;
}

/** The checksum header of a response, as described at `sourceMd5`. */
function sourceChecksum({ received, input, version }: ChecksumContext) {
  const isMd5Returned = input.sourceMd5 !== undefined || version < crc64Since;
  return bodyChecksum(isMd5Returned ? received : { ...received, md5: undefined }, version);
}

/** The properties of a source whose bytes `http/source/` has fetched; throws for any other. */
function remoteSourceOf(source: CopySource | undefined): FetchedProperties {
  if (source?.kind !== "fetched") throw new Error("a body from a URL has no remote source");
  return source.properties;
}
