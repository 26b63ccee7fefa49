import { noBody } from "../../operation/operation.ts";
import { operation } from "../resources.ts";

/** learn.microsoft.com/rest/api/storageservices/get-container-metadata */
export const getContainerMetadata = operation({
  name: "Get Container Metadata",
  ids: ["Container_GetMetadata_GET", "Container_GetMetadata_HEAD"],
  route: {
    method: ["GET", "HEAD"],
    resource: "container",
    query: { restype: "container", comp: "metadata" },
  },
  since: "2009-09-19",
  params: {},
  body: noBody,
  permission: { letters: "r", resourceType: "c", sas: "account-only", publicRead: "container" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-given",
  etag: "keep",
  effect: "reads",
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ metadata: target.metadata }),
});
