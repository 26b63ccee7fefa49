import { blobRead } from "../blob-policy.ts";
import { encryptionOfProperties } from "../../protocol/encryption.ts";
import { operation } from "../resources.ts";

/** learn.microsoft.com/rest/api/storageservices/get-blob-metadata */
export const getBlobMetadata = operation({
  ...blobRead,
  name: "Get Blob Metadata",
  ids: ["Blob_GetMetadata_GET", "Blob_GetMetadata_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "blob", query: { comp: "metadata" } },
  since: "2009-09-19",
  params: { encryption: encryptionOfProperties },
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ metadata: target.metadata }),
});
