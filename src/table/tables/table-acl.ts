import {
  accessPoliciesBytesMax,
  parseAccessPolicies,
  renderAccessPolicies,
} from "../../account/access-policies.ts";
import { timeout } from "../../operation/common-params.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { operation } from "../resources.ts";

const query = { comp: "acl" };

/** learn.microsoft.com/rest/api/storageservices/get-table-acl */
export const getTableAcl = operation({
  name: "Get Table ACL",
  ids: ["Table_GetAccessPolicy"],
  route: { method: ["GET", "HEAD"], resource: "table", query },
  since: "2012-02-12",
  params: { timeout },
  body: noBody,
  permission: { resourceType: "c", sas: "none" },
  target: "must-exist",
  ...noETag,
  effect: "reads",
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ body: xmlBody(renderAccessPolicies(target.policies)) }),
});

/** learn.microsoft.com/rest/api/storageservices/set-table-acl */
export const setTableAcl = operation({
  name: "Set Table ACL",
  ids: ["Table_SetAccessPolicy"],
  route: { method: "PUT", resource: "table", query },
  since: "2012-02-12",
  params: { timeout },
  body: { kind: "xml", bytesMax: accessPoliciesBytesMax, parse: parseAccessPolicies },
  permission: { resourceType: "c", sas: "none" },
  target: "must-exist",
  missingBefore: { version: "2019-02-02", code: "TableNotFound" },
  ...noETag,
  effect: "writes",
  success: { status: 204, headers: [] },
  decide: ({ target, input }) => ({ put: { ...target, policies: input.body } }),
});
