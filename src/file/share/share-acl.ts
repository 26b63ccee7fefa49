import {
  accessPoliciesBytesMax,
  parseAccessPolicies,
  renderAccessPolicies,
} from "../../account/access-policies.ts";
import { propertiesRead, propertiesChange } from "../../operation/operation.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { operation } from "../resources.ts";

const query = { restype: "share", comp: "acl" };

/** learn.microsoft.com/rest/api/storageservices/get-share-acl */
export const getShareAcl = operation({
  ...propertiesRead,
  name: "Get Share ACL",
  ids: ["Share_GetAccessPolicy"],
  route: { method: ["GET", "HEAD"], resource: "share", query },
  since: "2015-02-21",
  params: {},
  permission: { resourceType: "c", sas: "none" },
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ body: xmlBody(renderAccessPolicies(target.policies)) }),
});

/** Replaces all stored access policies.
 *  learn.microsoft.com/rest/api/storageservices/set-share-acl */
export const setShareAcl = operation({
  ...propertiesChange,
  name: "Set Share ACL",
  ids: ["Share_SetAccessPolicy"],
  route: { method: "PUT", resource: "share", query },
  since: "2015-02-21",
  params: {},
  body: { kind: "xml", bytesMax: accessPoliciesBytesMax, parse: parseAccessPolicies },
  permission: { resourceType: "c", sas: "none" },
  success: { status: 200, headers: [] },
  decide: ({ target, input }) => ({ put: { ...target, policies: input.body } }),
});
