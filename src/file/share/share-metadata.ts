import { metadata } from "../../operation/common-params.ts";
import { noBody, propertiesRead, propertiesChange } from "../../operation/operation.ts";
import { operation } from "../resources.ts";

const query = { restype: "share", comp: "metadata" };

/** learn.microsoft.com/rest/api/storageservices/get-share-metadata */
export const getShareMetadata = operation({
  ...propertiesRead,
  name: "Get Share Metadata",
  ids: ["Share_GetMetadata_GET", "Share_GetMetadata_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "share", query },
  since: "2015-02-21",
  params: {},
  permission: { letters: "r", resourceType: "c", sas: "account-only" },
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ metadata: target.metadata }),
});

/** Replaces all metadata of the share.
 *  learn.microsoft.com/rest/api/storageservices/set-share-metadata */
export const setShareMetadata = operation({
  ...propertiesChange,
  name: "Set Share Metadata",
  ids: ["Share_SetMetadata"],
  route: { method: "PUT", resource: "share", query },
  since: "2015-02-21",
  params: { metadata },
  body: noBody,
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  success: { status: 200, headers: [] },
  decide: ({ target, input }) => ({ put: { ...target, metadata: input.metadata } }),
});
