import { metadata, breakHeaders, leaseAction, leaseChange } from "../../operation/common-params.ts";
import { propertiesChange, propertiesRead, type Route } from "../../operation/operation.ts";
import { accountScope } from "../../protocol/encryption.ts";
import { leaseHeaders, leaseReply } from "../../protocol/lease.ts";
import { operation } from "../resources.ts";
import { header, oneOf } from "../../protocol/params.ts";
import {
  accessPoliciesBytesMax,
  parseAccessPolicies,
  renderAccessPolicies,
} from "../../account/access-policies.ts";
import { fail } from "../../protocol/result.ts";
import { xmlBody } from "../../encoding/xml-body.ts";

/** Operations on properties of a container: metadata, access policies, lease. */

const readPermission = {
  letters: "r",
  resourceType: "c",
  sas: "account-only",
  publicRead: "container",
} as const;

/** Returns metadata, lease, public access and default encryption scope as headers.
 *  learn.microsoft.com/rest/api/storageservices/get-container-properties */
export const getContainerProperties = operation({
  ...propertiesRead,
  name: "Get Container Properties",
  ids: ["Container_GetProperties"],
  route: { method: ["GET", "HEAD"], resource: "container", query: { restype: "container" } },
  permission: readPermission,
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

/** Returns only the metadata.
 *  learn.microsoft.com/rest/api/storageservices/get-container-metadata */
export const getContainerMetadata = operation({
  ...propertiesRead,
  name: "Get Container Metadata",
  ids: ["Container_GetMetadata_GET", "Container_GetMetadata_HEAD"],
  route: {
    method: ["GET", "HEAD"],
    resource: "container",
    query: { restype: "container", comp: "metadata" },
  },
  permission: readPermission,
  decide: ({ target }) => ({ metadata: target.metadata }),
});

/** Replaces all metadata of a container.
 *  learn.microsoft.com/rest/api/storageservices/set-container-metadata */
export const setContainerMetadata = operation({
  ...propertiesChange,
  name: "Set Container Metadata",
  ids: ["Container_SetMetadata"],
  route: {
    method: "PUT",
    resource: "container",
    query: { restype: "container", comp: "metadata" },
  },
  params: { metadata },
  permission: { letters: "w", resourceType: "c", sas: "account-only" },
  conditions: "write",
  decide: ({ target, input }) => ({ put: { ...target, metadata: input.metadata } }),
});

/** The public access of a container; undefined if it is private. */
export const publicAccess = header("x-ms-blob-public-access", oneOf("container", "blob"));

const aclQuery = { restype: "container", comp: "acl" };

/** Returns public access and the stored access policies, to which a SAS can refer.
 *  learn.microsoft.com/rest/api/storageservices/get-container-acl */
export const getContainerAcl = operation({
  ...propertiesRead,
  name: "Get Container ACL",
  ids: ["Container_GetAccessPolicy", "Container_GetAccessPolicy_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "container", query: aclQuery },
  permission: { resourceType: "c", sas: "none" },
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
  route: { method: "PUT", resource: "container", query: aclQuery },
  params: { publicAccess },
  body: { kind: "xml", bytesMax: accessPoliciesBytesMax, parse: parseAccessPolicies },
  permission: { resourceType: "c", sas: "none" },
  conditions: "write",
  decide: ({ target, input, features }) => {
    if (input.publicAccess !== undefined && !features.publicAccess) {
      return fail("PublicAccessNotPermitted");
    }
    return { put: { ...target, policies: input.body, publicAccess: input.publicAccess } };
  },
});

/** Declares some actions of Lease Container, which all share one URL: breaking a lease is declared
 *  apart, because other permissions suffice for it.
 *  learn.microsoft.com/rest/api/storageservices/lease-container */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  const query = { restype: "container", comp: "lease" };
  return operation({
    ...leaseChange,
    name: "Lease Container",
    ids,
    route: { method: "PUT", resource: "container", query, headers },
    since: "2012-02-12",
    params: { action: leaseAction("container") },
    permission: { letters, resourceType: "c", sas: "account-only" },
    conditions: "write",
    decide: ({ target, input, now, newGuid }) =>
      leaseReply({ target, action: input.action, kind: "container", now, newGuid }),
  });
}

export const leaseContainer = declareLease(
  [
    "Container_AcquireLease",
    "Container_RenewLease",
    "Container_ChangeLease",
    "Container_ReleaseLease",
  ],
  "w",
);

export const breakContainerLease = declareLease(["Container_BreakLease"], "wd", breakHeaders);
