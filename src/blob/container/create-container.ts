import { put } from "../../operation/effects.ts";
import type { Effect } from "../../operation/effects.ts";
import type { Ticks } from "../../base/ticks.ts";
import { metadata } from "../../operation/common-params.ts";
import { noBody } from "../../operation/operation.ts";
import { parseScope } from "../../protocol/encryption.ts";
import { boolean, header, type Param } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { blobs } from "../records.ts";
import { isHierarchical, operation } from "../resources.ts";
import { inheritedAccess } from "../tree/create-parents.ts";
import { newDirectory } from "../tree/directory-record.ts";
import { rootName } from "../tree/find-path.ts";
import { checkScope } from "../shared/create-blob.ts";
import { publicAccess } from "./container-acl.ts";

const defaultScopeHeader = "x-ms-default-encryption-scope";

const defaultEncryptionScope: Param<string | undefined> = {
  sources: [defaultScopeHeader],
  parse: (reader) => parseScope(reader, defaultScopeHeader),
};

/** learn.microsoft.com/rest/api/storageservices/create-container */
export const createContainer = operation({
  name: "Create Container",
  ids: ["Container_Create"],
  route: { method: "PUT", resource: "container", query: { restype: "container" } },
  since: "2009-09-19",
  params: {
    metadata,
    publicAccess,
    defaultEncryptionScope,
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
  decide: ({ input, features, newETag, newId, scope, callerId }) => {
    if (input.publicAccess !== undefined && !features.publicAccess) {
      return fail("PublicAccessNotPermitted");
    }
    const known = checkScope(input.defaultEncryptionScope, features);
    if (!known.ok) return known;
    const { metadata: pairs, publicAccess: access } = input;
    const id = newId();
    return {
      ...(isHierarchical(scope) ? { effects: [putRoot(id, newETag, callerId)] } : {}),
      put: {
        id,
        etag: newETag,
        metadata: pairs,
        policies: [],
        publicAccess: access,
        defaultEncryptionScope: input.defaultEncryptionScope,
        denyEncryptionScopeOverride: input.denyEncryptionScopeOverride,
      },
    };
  },
});

/** Creates the root directory of a container of a hierarchical account. The id of the container is
 *  also the id of its root directory. A caller with a bearer token becomes its owner and its owning
 *  group. learn.microsoft.com/azure/storage/blobs/data-lake-storage-access-control */
export function putRoot(id: bigint, etag: Ticks, callerId: string | undefined): Effect {
  const access = inheritedAccess("directory", undefined, callerId);
  const posix = access && { ...access, group: access.owner };
  const root = newDirectory({ id, etag, now: etag, posix });
  return put(blobs, { container: id, name: rootName }, root);
}
