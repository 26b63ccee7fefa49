import { noBody } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { accessControlAction, operation } from "../resources.ts";

/** The request by which clients of the Data Lake API detect a hierarchical namespace. It comes to
 *  the blob endpoint if the client is configured with no other. No account has such a namespace
 *  here, so it is always refused.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/get-properties */
function declareGetAccessControl(resource: "container" | "blob") {
  return operation({
    name: "Get Access Control",
    ids: [],
    route: { method: "HEAD", resource, query: { action: accessControlAction } },
    since: "2018-11-09",
    params: {},
    body: noBody,
    permission: { letters: "r", resourceType: "co" },
    namespace: "hierarchical",
    target: "must-exist",
    conditions: "none",
    lease: "none",
    etag: "none",
    effect: "reads",
    policy: { content: "none", generations: "any", pendingCopy: "allow", clientKey: "none" },
    success: { status: 200, headers: [] },
    decide: () => fail("HierarchicalNamespaceNotEnabled"),
  });
}

export const getAccessControl = [
  declareGetAccessControl("container"),
  declareGetAccessControl("blob"),
];
