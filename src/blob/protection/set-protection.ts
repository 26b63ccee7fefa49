import { invalidHeader } from "../../protocol/faults.ts";
import { formatHttpDate } from "../../base/dates.ts";
import { noETag } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import type { ImmutabilityPolicy } from "../records.ts";
import { operation } from "../resources.ts";
import { putAddressed } from "../shared/overwrite.ts";
import { immutabilityPolicy, legalHold, policyHeaders } from "./protection.ts";
import { blobRead } from "../blob-policy.ts";

/** Operations on the immutability policy and the legal hold of a blob, which forbid changing and
 *  deleting it. */

/** What the declarations of operations on policies and legal holds have in common. */
const protectionChange = {
  permission: { letters: "i", resourceType: "o" },
  namespace: "flat",
  target: "must-exist",
  ...noETag,
  policy: { ...blobRead.policy, pendingCopy: "reject", clientKey: "none" },
} as const;

const query = { comp: "immutabilityPolicies" };

/** Sets the immutability policy of a blob. A locked policy can only be extended.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-immutability-policy */
export const setImmutabilityPolicy = operation({
  ...protectionChange,
  name: "Set Blob Immutability Policy",
  ids: ["Blob_SetImmutabilityPolicy"],
  route: { method: "PUT", resource: "blob", query },
  since: "2020-06-12",
  params: { policy: immutabilityPolicy },
  conditions: "write",
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

/** Removes an unlocked policy; without a policy it succeeds, too.
 *  learn.microsoft.com/rest/api/storageservices/delete-blob-immutability-policy */
export const deleteImmutabilityPolicy = operation({
  ...protectionChange,
  name: "Delete Blob Immutability Policy",
  ids: ["Blob_DeleteImmutabilityPolicy"],
  route: { method: "DELETE", resource: "blob", query },
  since: "2020-06-12",
  mayUseReserve: true,
  decide: (context) => {
    const { target } = context;
    if (target.immutability === undefined) return {};
    if (target.immutability.mode === "locked") {
      return fail("ImmutabilityPolicyDeleteOnLockedPolicy");
    }
    return putAddressed(context, { ...target, immutability: undefined });
  },
});

/** Sets or clears the legal hold, which protects a blob without an end time.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-legal-hold */
export const setLegalHold = operation({
  ...protectionChange,
  name: "Set Blob Legal Hold",
  ids: ["Blob_SetLegalHold"],
  route: { method: "PUT", resource: "blob", query: { comp: "legalhold" } },
  since: "2020-04-08",
  params: { legalHold },
  decide: (context) => {
    const { target, input } = context;
    return {
      ...putAddressed(context, { ...target, legalHold: input.legalHold }),
      headers: { "x-ms-legal-hold": String(input.legalHold) },
    };
  },
});
