import { noBody } from "../../core/operation.ts";
import { fail } from "../../core/result.ts";
import { accessControlAction, operation } from "../resources.ts";

/** The question by which clients of the Data Lake API find out whether an account has directories.
 *  They ask the blob service if they know no other endpoint. No account has any here, so there is
 *  never a list to answer with.
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
    success: { status: 200, headers: [] },
    decide: () => fail("HierarchicalNamespaceNotEnabled"),
  });
}

export const getAccessControl = [
  declareGetAccessControl("container"),
  declareGetAccessControl("blob"),
];
