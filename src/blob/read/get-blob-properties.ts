import { blobRead } from "../blob-policy.ts";
import { encryptionOfProperties } from "../../protocol/encryption.ts";
import { operation } from "../resources.ts";
import { tierHeaderNames, tierHeaders } from "../tier/rehydration.ts";
import { storedMd5 } from "../shared/http-headers.ts";
import { blobProperties, blobPropertyNames } from "./blob-properties.ts";

/** learn.microsoft.com/rest/api/storageservices/get-blob-properties */
export const getBlobProperties = operation({
  ...blobRead,
  name: "Get Blob Properties",
  ids: ["Blob_GetProperties"],
  route: { method: "HEAD", resource: "blob" },
  since: "2009-09-19",
  params: { encryption: encryptionOfProperties },
  success: {
    status: 200,
    headers: [...blobPropertyNames, "Content-Length", ...tierHeaderNames],
  },
  decide: ({ target, address, now, version, features }) => ({
    metadata: target.metadata,
    headers: [
      ...blobProperties({ target, address, now, version, features }),
      tierHeaders(target),
      {
        "Content-MD5": storedMd5(target.headers),
        "Content-Length": String(target.content.length),
      },
    ],
  }),
});
