import { metadata } from "../../operation/common-params.ts";
import { noBody, propertiesChange, propertiesRead } from "../../operation/operation.ts";
import { accountScope } from "../../protocol/encryption.ts";
import { leaseHeaderNames, leaseHeaders } from "../../protocol/lease.ts";
import { operation } from "../resources.ts";

const readPermission = {
  letters: "r",
  resourceType: "c",
  sas: "account-only",
  publicRead: "container",
} as const;

/** learn.microsoft.com/rest/api/storageservices/get-container-properties */
export const getContainerProperties = operation({
  ...propertiesRead,
  name: "Get Container Properties",
  ids: ["Container_GetProperties"],
  route: { method: ["GET", "HEAD"], resource: "container", query: { restype: "container" } },
  since: "2009-09-19",
  params: {},
  permission: readPermission,
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

/** learn.microsoft.com/rest/api/storageservices/get-container-metadata */
export const getContainerMetadata = operation({
  ...propertiesRead,
  name: "Get Container Metadata",
  ids: ["Container_GetMetadata_GET", "Container_GetMetadata_HEAD"],
  route: {
    method: ["GET", "HEAD"],
    resource: "container",
    query: { restype: "container", comp: "metadata" },
  },
  since: "2009-09-19",
  params: {},
  permission: readPermission,
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({ metadata: target.metadata }),
});

/** Replaces all metadata. learn.microsoft.com/rest/api/storageservices/set-container-metadata */
export const setContainerMetadata = operation({
  ...propertiesChange,
  name: "Set Container Metadata",
  ids: ["Container_SetMetadata"],
  route: {
    method: "PUT",
    resource: "container",
    query: { restype: "container", comp: "metadata" },
  },
  since: "2009-09-19",
  params: { metadata },
  body: noBody,
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  conditions: "write",
  success: { status: 200, headers: [] },
  decide: ({ target, input }) => ({ put: { ...target, metadata: input.metadata } }),
});
