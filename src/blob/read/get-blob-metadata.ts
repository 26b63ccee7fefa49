import { encryptionOfProperties } from "../../protocol/encryption.ts";
import { noBody } from "../../operation/operation.ts";
import { operation } from "../resources.ts";

/** learn.microsoft.com/rest/api/storageservices/get-blob-metadata */
export const getBlobMetadata = operation({
  name: "Get Blob Metadata",
  ids: ["Blob_GetMetadata_GET", "Blob_GetMetadata_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "blob", query: { comp: "metadata" } },
  since: "2009-09-19",
  params: { encryption: encryptionOfProperties },
  body: noBody,
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
  target: "must-exist",
  conditions: "read",
  lease: "match-if-given",
  etag: "keep",
  effect: "reads",
  policy: { content: "none", generations: "any", pendingCopy: "allow", clientKey: "match" },
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ metadata: target.metadata }),
});
