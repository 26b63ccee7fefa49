import {
  accessPoliciesBytesMax,
  accessPoliciesWithin,
  renderAccessPolicies,
} from "../../account/access-policies.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { operation } from "../resources.ts";

/** Read, add, update, process: the permissions of a queue. */
const parseQueuePolicies = accessPoliciesWithin("raup");

/** learn.microsoft.com/rest/api/storageservices/get-queue-acl */
export const getQueueAcl = operation({
  name: "Get Queue ACL",
  ids: ["Queue_GetAccessPolicy"],
  route: { method: ["GET", "HEAD"], resource: "queue", query: { comp: "acl" } },
  since: "2012-02-12",
  params: {},
  body: noBody,
  permission: { resourceType: "c", sas: "none" },
  target: "must-exist",
  ...noETag,
  effect: "reads",
  success: { status: 200, headers: ["Cache-Control"] },
  decide: ({ target }) => ({
    headers: { "Cache-Control": "no-cache" },
    body: xmlBody(renderAccessPolicies(target.policies)),
  }),
});

/** Replaces all stored access policies.
 *  learn.microsoft.com/rest/api/storageservices/set-queue-acl */
export const setQueueAcl = operation({
  name: "Set Queue ACL",
  ids: ["Queue_SetAccessPolicy"],
  route: { method: "PUT", resource: "queue", query: { comp: "acl" } },
  since: "2012-02-12",
  params: {},
  body: { kind: "xml", bytesMax: accessPoliciesBytesMax, parse: parseQueuePolicies },
  permission: { resourceType: "c", sas: "none" },
  target: "must-exist",
  ...noETag,
  effect: "writes",
  success: { status: 204, headers: [] },
  decide: ({ target, input }) => ({ put: { ...target, policies: input.body } }),
});
