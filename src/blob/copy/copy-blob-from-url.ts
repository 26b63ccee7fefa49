import { whole } from "../../content/plan.ts";
import { metadata } from "../../operation/common-params.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { protection } from "../protection/protection.ts";
import { uploads } from "../records.ts";
import { operation } from "../resources.ts";
import { syncCopyBytesMax } from "../shared/limits.ts";
import {
  blobKey,
  dropUpload,
  preservePrevious,
  nextVersion,
  versionHeader,
} from "../shared/overwrite.ts";
import { tagsHeader } from "../shared/create-params.ts";
import { blockBlobTier } from "../shared/tier.ts";
import { copiedRecord, remoteSourceProperties } from "./copied-record.ts";
import { tagOption } from "./copy-params.ts";
import { remoteSourceOf, sourceMd5, sourceChecksumHeader, wholeSource } from "./source-body.ts";

/** Copies while the client waits: the response is sent after the copy is complete.
 *  learn.microsoft.com/rest/api/storageservices/copy-blob-from-url */
export const copyBlobFromUrl = operation({
  name: "Copy Blob From URL",
  ids: ["Blob_CopyFromURL"],
  route: {
    method: "PUT",
    resource: "blob",
    headers: { "x-ms-copy-source": true, "x-ms-requires-sync": "true" },
  },
  since: "2018-03-28",
  params: { metadata, tags: tagsHeader, tagOption, tier: blockBlobTier, sourceMd5, protection },
  body: wholeSource(() => syncCopyBytesMax),
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
    status: 202,
    headers: [
      "Content-MD5",
      "x-ms-content-crc64",
      "x-ms-copy-id",
      "x-ms-copy-status",
      "x-ms-request-server-encrypted",
      "x-ms-version-id",
    ],
  },
  reads: (view, { scope }) => view.get(uploads, blobKey({ scope })),
  decide: (context) => {
    const { input, source, received, newETag, now, target, readResult, newGuid } = context;
    const versionId = nextVersion(context);
    const original = {
      ...remoteSourceProperties(remoteSourceOf(source)),
      type: "BlockBlob" as const,
    };
    const record = copiedRecord(original, input, { newETag, now, target, versionId });
    if (!record.ok) return record;
    const id = newGuid();
    const { length } = received;
    const state = { id, source: source?.url ?? "", copiedBytes: length, totalBytes: length };
    const copy = { ...state, status: "success" as const, completed: now };
    return {
      put: { ...record.value, copy, ...input.protection },
      content: whole(received),
      preserve: preservePrevious(context),
      effects: dropUpload(blobKey(context), readResult),
      headers: {
        ...sourceChecksumHeader(received, {
          requestMd5: input.sourceMd5,
          version: context.version,
        }),
        "x-ms-copy-id": id,
        "x-ms-copy-status": "success",
        "x-ms-request-server-encrypted": "true",
        "x-ms-version-id": versionHeader(versionId),
      },
    };
  },
});
