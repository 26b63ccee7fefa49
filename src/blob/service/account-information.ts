import { noBody, noETag } from "../../operation/operation.ts";
import { operation } from "../resources.ts";

/** Azure accepts this request on the URL of the account, of a container and of a blob, which need
 *  not exist, and gives the same response.
 *  learn.microsoft.com/rest/api/storageservices/get-account-information */
function declareAccountInformation(id: string, resource: "service" | "container" | "blob") {
  return operation({
    name: "Get Account Information",
    ids: [id],
    route: {
      method: ["GET", "HEAD"],
      resource,
      query: { restype: "account", comp: "properties" },
    },
    since: "2018-03-28",
    params: {},
    body: noBody,
    permission: { resourceType: "sco", notFoundIfAnonymous: true },
    target: "ignored",
    ...noETag,
    effect: "reads",
    policy: {
      content: "none",
      generations: "any",
      pendingCopy: "allow",
      clientKey: "none",
      event: "none",
    },
    success: {
      status: 200,
      headers: ["x-ms-sku-name", "x-ms-account-kind", "x-ms-is-hns-enabled"],
    },
    decide: ({ features }) => ({
      headers: {
        // The SKU with a readable secondary endpoint, which this server has, too.
        "x-ms-sku-name": "Standard_RAGRS",
        "x-ms-account-kind": "StorageV2",
        "x-ms-is-hns-enabled": String(features.hierarchicalNamespace === true),
      },
    }),
  });
}

export const accountInformationOperations = [
  declareAccountInformation("Service_GetAccountInfo", "service"),
  declareAccountInformation("Container_GetAccountInfo", "container"),
  declareAccountInformation("Blob_GetAccountInfo", "blob"),
];
