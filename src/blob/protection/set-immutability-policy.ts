import { invalidHeader } from "../../protocol/faults.ts";
import { formatHttpDate } from "../../base/dates.ts";
import { noBody } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import type { ImmutabilityPolicy } from "../records.ts";
import { operation } from "../resources.ts";
import { putAddressed } from "../shared/generation.ts";
import { immutabilityPolicy, policyHeaders, protectionHeaderNames } from "./protection.ts";

const query = { comp: "immutabilityPolicies" };

/** Sets the immutability policy of a blob. A locked policy can only be extended.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-immutability-policy */
export const setImmutabilityPolicy = operation({
  name: "Set Blob Immutability Policy",
  ids: ["Blob_SetImmutabilityPolicy"],
  route: { method: "PUT", resource: "blob", query },
  since: "2020-06-12",
  params: { policy: immutabilityPolicy },
  body: noBody,
  permission: { letters: "i", resourceType: "o" },
  namespace: "flat",
  target: "must-exist",
  conditions: "write",
  lease: "none",
  etag: "none",
  effect: "writes",
  policy: { content: "none", generations: "any", pendingCopy: "reject", clientKey: "none" },
  success: { status: 200, headers: protectionHeaderNames },
  decide: (context) => {
    const { target, input } = context;
    const failure = policyFault(target.immutability, input.policy);
    if (failure !== undefined) return failure;
    const immutability = input.policy;
    return {
      ...putAddressed(context, { ...target, immutability }),
      headers: policyHeaders(immutability),
    };
  },
});

function policyFault(current: ImmutabilityPolicy | undefined, next: ImmutabilityPolicy) {
  if (current?.mode !== "locked") return undefined;
  if (next.mode !== "locked") return invalidHeader("x-ms-immutability-policy-mode", next.mode);
  if (next.until >= current.until) return undefined;
  return invalidHeader("x-ms-immutability-policy-until-date", formatHttpDate(next.until));
}

/** learn.microsoft.com/rest/api/storageservices/delete-blob-immutability-policy */
export const deleteImmutabilityPolicy = operation({
  name: "Delete Blob Immutability Policy",
  ids: ["Blob_DeleteImmutabilityPolicy"],
  route: { method: "DELETE", resource: "blob", query },
  since: "2020-06-12",
  params: {},
  body: noBody,
  permission: { letters: "i", resourceType: "o" },
  namespace: "flat",
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "writes",
  mayUseReserve: true,
  policy: { content: "none", generations: "any", pendingCopy: "reject", clientKey: "none" },
  success: { status: 200, headers: [] },
  decide: (context) => {
    const { target } = context;
    if (target.immutability === undefined) return {};
    if (target.immutability.mode === "locked") {
      return fail("ImmutabilityPolicyDeleteOnLockedPolicy");
    }
    return putAddressed(context, { ...target, immutability: undefined });
  },
});
