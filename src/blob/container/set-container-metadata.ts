import { metadata } from "../../operation/common-params.ts";
import { noBody } from "../../operation/operation.ts";
import { operation } from "../resources.ts";

/** Replaces all metadata. learn.microsoft.com/rest/api/storageservices/set-container-metadata */
export const setContainerMetadata = operation({
  name: "Set Container Metadata",
  ids: ["Container_SetMetadata"],
  route: {
    method: "PUT",
    resource: "container",
    query: { restype: "container", comp: "metadata" },
  },
  since: "2009-09-19",
  params: { metadata },
  body: noBody,
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  conditions: "write",
  lease: "match-if-given",
  etag: "renew",
  effect: "writes",
  success: { status: 200, headers: [] },
  decide: ({ target, input }) => ({ put: { ...target, metadata: input.metadata } }),
});
