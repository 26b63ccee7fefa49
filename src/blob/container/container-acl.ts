import { header, oneOf } from "../../protocol/params.ts";
import {
  accessPoliciesBytesMax,
  parseAccessPolicies,
  renderAccessPolicies,
} from "../../account/access-policies.ts";
import { propertiesRead, propertiesChange } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { operation } from "../resources.ts";

/** The public access of a container; undefined if it is private. */
export const publicAccess = header("x-ms-blob-public-access", oneOf("container", "blob"));

const query = { restype: "container", comp: "acl" };

/** learn.microsoft.com/rest/api/storageservices/get-container-acl */
export const getContainerAcl = operation({
  ...propertiesRead,
  name: "Get Container ACL",
  ids: ["Container_GetAccessPolicy", "Container_GetAccessPolicy_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "container", query },
  since: "2009-09-19",
  params: {},
  permission: { resourceType: "c", sas: "none" },
  success: { status: 200, headers: ["x-ms-blob-public-access"] },
  decide: ({ target }) => ({
    headers: { "x-ms-blob-public-access": target.publicAccess },
    body: xmlBody(renderAccessPolicies(target.policies)),
  }),
});

/** Replaces all stored access policies and the public access.
 *  learn.microsoft.com/rest/api/storageservices/set-container-acl */
export const setContainerAcl = operation({
  ...propertiesChange,
  name: "Set Container ACL",
  ids: ["Container_SetAccessPolicy"],
  route: { method: "PUT", resource: "container", query },
  since: "2009-09-19",
  params: { publicAccess },
  body: { kind: "xml", bytesMax: accessPoliciesBytesMax, parse: parseAccessPolicies },
  permission: { resourceType: "c", sas: "none" },
  conditions: "write",
  success: { status: 200, headers: [] },
  decide: ({ target, input, features }) => {
    if (input.publicAccess !== undefined && !features.publicAccess) {
      return fail("PublicAccessNotPermitted");
    }
    return { put: { ...target, policies: input.body, publicAccess: input.publicAccess } };
  },
});
