import { formatHttpDate } from "../../core/dates.ts";
import { noBody } from "../../core/operation.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { defaultTier } from "../shared/tier.ts";
import { blobProperties, blobPropertyNames } from "./blob-properties.ts";

/** learn.microsoft.com/rest/api/storageservices/get-blob-properties */
export const getBlobProperties = operation({
  name: "Get Blob Properties",
  ids: ["Blob_GetProperties"],
  route: { method: "HEAD", resource: "blob" },
  since: "2009-09-19",
  params: {},
  body: noBody,
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
  target: "must-exist",
  conditions: "read",
  lease: "match-if-given",
  etag: "keep",
  effect: "reads",
  success: {
    status: 200,
    headers: [
      ...blobPropertyNames,
      "Content-Length",
      "x-ms-access-tier",
      "x-ms-access-tier-inferred",
      "x-ms-access-tier-change-time",
    ],
  },
  decide: ({ target, address, now }) => ({
    metadata: target.metadata,
    headers: {
      ...blobProperties({ target, address, now }),
      ...tierHeaders(target),
      "Content-Length": String(target.content.length),
    },
  }),
});

/** A tier that nobody chose is told as inferred, one that somebody chose with the time of it. */
function tierHeaders({ type, tier, tierChanged }: BlobRecord) {
  if (type !== "BlockBlob") return {};
  if (tier === undefined) {
    return { "x-ms-access-tier": defaultTier, "x-ms-access-tier-inferred": "true" };
  }
  return {
    "x-ms-access-tier": tier,
    "x-ms-access-tier-change-time":
      tierChanged === undefined ? undefined : formatHttpDate(tierChanged),
  };
}
