import { noBody } from "../../operation/operation.ts";
import { leaseHeaderNames, leaseHeaders } from "../../protocol/lease-headers.ts";
import { operation } from "../resources.ts";

/** The default encryption scope of a container that sets none: the service encrypts with the
 *  account's key. */
const accountScope = "$account-encryption-key";

/** learn.microsoft.com/rest/api/storageservices/get-container-properties */
export const getContainerProperties = operation({
  name: "Get Container Properties",
  ids: ["Container_GetProperties"],
  route: { method: ["GET", "HEAD"], resource: "container", query: { restype: "container" } },
  since: "2009-09-19",
  params: {},
  body: noBody,
  permission: {
    letters: "r",
    resourceType: "c",
    sas: "account-only",
    publicRead: "container",
  },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-given",
  etag: "keep",
  effect: "reads",
  success: {
    status: 200,
    headers: [
      ...leaseHeaderNames,
      "x-ms-blob-public-access",
      "x-ms-has-immutability-policy",
      "x-ms-has-legal-hold",
      "x-ms-immutable-storage-with-versioning-enabled",
      "x-ms-default-encryption-scope",
      "x-ms-deny-encryption-scope-override",
    ],
  },
  decide: ({ target, now }) => ({
    metadata: target.metadata,
    headers: {
      ...leaseHeaders(target.lease, now),
      "x-ms-blob-public-access": target.publicAccess,
      "x-ms-has-immutability-policy": "false",
      "x-ms-has-legal-hold": "false",
      "x-ms-immutable-storage-with-versioning-enabled": "false",
      "x-ms-default-encryption-scope": target.defaultEncryptionScope ?? accountScope,
      "x-ms-deny-encryption-scope-override": String(target.denyEncryptionScopeOverride ?? false),
    },
  }),
});
