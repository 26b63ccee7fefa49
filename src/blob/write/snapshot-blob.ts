import { metadata } from "../../operation/common-params.ts";
import { formatIso } from "../../base/dates.ts";
import { put } from "../../operation/effects.ts";
import { encryption } from "../../protocol/encryption.ts";
import { generations } from "../records.ts";
import { operation } from "../resources.ts";
import { blobKey, preservePrevious, nextVersion, versionHeader } from "../shared/overwrite.ts";
import { blobChange } from "../blob-policy.ts";

/** Snapshot Blob: keeps the present state of a blob under the time of the request, to be read
 *  later. */

/** Creates a snapshot, which shares the content of the blob; takes constant time.
 *  learn.microsoft.com/rest/api/storageservices/snapshot-blob */
export const snapshotBlob = operation({
  name: "Snapshot Blob",
  ids: ["Blob_CreateSnapshot"],
  route: { method: "PUT", resource: "blob", query: { comp: "snapshot" } },
  params: { metadata, encryption },
  permission: { letters: "cw", resourceType: "o" },
  target: "must-exist",
  conditions: "write",
  lease: "match-if-given",
  etag: "keep",
  policy: { ...blobChange.policy, content: "none", directories: "reject", event: "SnapshotBlob" },
  status: 201,
  decide: (context) => {
    const { target, input, newETag, features } = context;
    const hasMetadata = input.metadata.length > 0;
    // A snapshot with metadata of its own differs from its blob. It gets an ETag of its own, and
    // the response says that encrypted data was written.
    const etag = hasMetadata ? newETag : target.etag;
    const pairs = hasMetadata ? input.metadata : target.metadata;
    const marks = { lease: undefined, versionId: undefined, snapshot: newETag };
    const snapshot = { ...target, ...marks, metadata: pairs, etag };
    const versionId = nextVersion(context);
    const key = { ...blobKey(context), at: newETag, kind: "snapshot" as const };
    const taken = put(generations, key, snapshot);
    return {
      ...(features.versioning ? { put: { ...target, versionId } } : {}),
      effects: [taken, ...(features.versioning ? preservePrevious(context) : [])],
      etag,
      headers: {
        "x-ms-snapshot": formatIso(newETag),
        "x-ms-request-server-encrypted": String(hasMetadata),
        "x-ms-version-id": versionHeader(versionId),
      },
    };
  },
});
