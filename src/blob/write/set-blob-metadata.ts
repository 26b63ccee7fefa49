import { blobChange } from "../blob-policy.ts";
import { metadata } from "../../operation/common-params.ts";
import { encryption } from "../../protocol/encryption.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { noBody } from "../../operation/operation.ts";
import { encryptionHeaderNames, encryptionHeaders } from "../shared/create-blob.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { withFolderMark } from "../tree/directory-record.ts";
import { preservePrevious, nextVersion, versionHeader } from "../shared/overwrite.ts";

/** Replaces all metadata. learn.microsoft.com/rest/api/storageservices/set-blob-metadata */
export const setBlobMetadata = operation({
  ...blobChange,
  name: "Set Blob Metadata",
  ids: ["Blob_SetMetadata"],
  route: { method: "PUT", resource: "blob", query: { comp: "metadata" } },
  since: "2009-09-19",
  params: { metadata, encryption },
  body: noBody,
  policy: { ...blobChange.policy, event: "SetBlobMetadata" },
  success: {
    status: 200,
    headers: ["x-ms-request-server-encrypted", "x-ms-version-id", ...encryptionHeaderNames],
  },
  decide: (context) => {
    const { target, input, features } = context;
    const versionId = nextVersion(context);
    return {
      put: { ...target, metadata: metadataOf(target, input.metadata), versionId },
      effects: features.versioning ? preservePrevious(context) : [],
      headers: {
        ...encryptionHeaders(target),
        "x-ms-request-server-encrypted": "true",
        "x-ms-version-id": versionHeader(versionId),
      },
    };
  },
});

/** A directory keeps the metadata pair that marks it as a directory. */
function metadataOf({ directory }: BlobRecord, given: Metadata): Metadata {
  return directory === undefined ? given : withFolderMark(given);
}
