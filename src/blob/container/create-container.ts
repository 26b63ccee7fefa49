import { isNameKept } from "../../account/deleted-names.ts";
import { metadata } from "../../operation/common-params.ts";
import { noBody } from "../../operation/operation.ts";
import { boolean, header, text } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { operation } from "../resources.ts";
import { publicAccess } from "./public-access.ts";

/** learn.microsoft.com/rest/api/storageservices/create-container */
export const createContainer = operation({
  name: "Create Container",
  ids: ["Container_Create"],
  route: { method: "PUT", resource: "container", query: { restype: "container" } },
  since: "2009-09-19",
  params: {
    metadata,
    publicAccess,
    defaultEncryptionScope: header("x-ms-default-encryption-scope", text),
    denyEncryptionScopeOverride: header("x-ms-deny-encryption-scope-override", boolean),
  },
  body: noBody,
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  target: "must-not-exist",
  conditions: "none",
  lease: "none",
  etag: "renew",
  effect: "writes",
  success: { status: 201, headers: [] },
  reads: (view, { scope, address, features }) =>
    isNameKept(view, features, {
      account: scope.account.id,
      service: "blob",
      name: address.container,
    }),
  decide: ({ input, features, newETag, newId, readResult }) => {
    if (readResult) return fail("ContainerBeingDeleted");
    if (input.publicAccess !== undefined && !features.publicAccess) {
      return fail("PublicAccessNotPermitted");
    }
    const { metadata: pairs, ...rest } = input;
    const { publicAccess: access, defaultEncryptionScope, denyEncryptionScopeOverride } = rest;
    return {
      put: {
        id: newId(),
        etag: newETag,
        metadata: pairs,
        policies: [],
        publicAccess: access,
        defaultEncryptionScope,
        denyEncryptionScopeOverride,
      },
    };
  },
});
