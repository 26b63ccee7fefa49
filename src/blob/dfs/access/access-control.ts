import { blobRead } from "../../blob-policy.ts";
import { noBody } from "../../../operation/operation.ts";
import { query } from "../../../protocol/params.ts";
import {
  executeBit,
  grants,
  maySetOwners,
  readBit,
  writeBit,
} from "../../../protocol/posix-access.ts";
import { formatAcl, setMode, type PosixAccess } from "../../../protocol/posix-acl.ts";
import { fail, ok, type Result } from "../../../protocol/result.ts";
import { every } from "../../../protocol/roles/role.ts";
import type { BlobRecord } from "../../records.ts";
import { operation } from "../../resources.ts";
import { acl, group, owner, permissions, upn } from "../params.ts";
import { accessOf, resourceType } from "../../tree/path-facts.ts";
import { accessHeaderNames, accessHeaders, ownershipNeed, replaceAcl } from "./posix.ts";
import type { RequestedAccess } from "./posix.ts";

/** Returns owner, permissions and list of a path. Works without the customer-provided key of an
 *  encrypted path (recorded).
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/get-properties */
export const getAccessControl = operation({
  ...blobRead,
  name: "Get Access Control",
  ids: [],
  route: { method: "HEAD", resource: "blob", query: { action: "getAccessControl" } },
  since: "2018-11-09",
  params: { upn },
  permission: { letters: "er", resourceType: "o", posix: {} },
  namespace: "hierarchical",
  policy: { ...blobRead.policy, generations: "current", clientKey: "none" },
  success: { status: 200, headers: [...accessHeaderNames, "x-ms-acl"] },
  decide: ({ target }) => ({
    headers: { ...accessHeaders(target), "x-ms-acl": formatAcl(accessOf(target)) },
  }),
});

/** Parses permissions such as `r-x` or `rx` into bits; undefined if malformed. */
function parseAction(text: string): number | undefined {
  if (!/^[r-]?[w-]?[x-]?$/.test(text) || text === "") return undefined;
  const bit = (letter: string, value: number) => (text.includes(letter) ? value : 0);
  return bit("r", readBit) | bit("w", writeBit) | bit("x", executeBit);
}

function bitsOf(input: object): number {
  return "bits" in input && typeof input.bits === "number" ? input.bits : 0;
}

const writeNeed = every("blobServices/containers/blobs/write");

/** Whether the caller has these permissions on a path: from its roles, or else from the access
 *  control list. An account key and a SAS have all of them. */
export const checkAccess = operation({
  ...blobRead,
  name: "Check Access",
  ids: [],
  route: { method: "HEAD", resource: "blob", query: { action: "checkAccess" } },
  since: "2018-11-09",
  params: { bits: query("fsAction", parseAction) },
  permission: {
    letters: "er",
    resourceType: "o",
    posix: {},
    furtherActions: (input) => ((bitsOf(input) & writeBit) === 0 ? undefined : writeNeed),
  },
  namespace: "hierarchical",
  policy: { ...blobRead.policy, generations: "current", clientKey: "none" },
  success: { status: 200, headers: [] },
  decide: ({ target, input, aclCaller }) => {
    if (aclCaller === undefined) return {};
    const mayDo = grants(accessOf(target), aclCaller, bitsOf(input));
    return mayDo ? {} : fail("AuthorizationPermissionMismatch");
  },
});

/** Changes the owner, group, permissions or access control list of a path. Neither ETag nor
 *  Last-Modified changes (recorded).
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/update */
export const setAccessControl = operation({
  name: "Set Access Control",
  ids: ["Path_SetAccessControl"],
  route: { method: "PATCH", resource: "blob", query: { action: "setAccessControl" } },
  since: "2018-11-09",
  params: { acl, permissions, owner, group },
  body: noBody,
  permission: {
    letters: "po",
    resourceType: "o",
    posix: { owner: true },
    furtherActions: ownershipNeed,
  },
  namespace: "hierarchical",
  target: "must-exist",
  conditions: "write",
  lease: "match-if-given",
  policy: {
    content: "change",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "none",
    event: "none",
  },
  etag: "keep",
  effect: "writes",
  success: { status: 200, headers: ["x-ms-namespace-enabled"] },
  decide: ({ target, input, aclCaller }) => {
    const isGiven = aclCaller === undefined || maySetOwners(accessOf(target), input, aclCaller);
    if (!isGiven) return fail("AuthorizationPermissionMismatch");
    const changed = changeAccess(target, input);
    if (!changed.ok) return changed;
    return {
      put: { ...target, posix: changed.value },
      headers: { "x-ms-namespace-enabled": "true" },
    };
  },
});

function changeAccess(
  target: BlobRecord,
  requested: Omit<RequestedAccess, "umask">,
): Result<PosixAccess> {
  const current = accessOf(target);
  const { owner: newOwner = current.owner, group: newGroup = current.group } = requested;
  const owned: PosixAccess = { ...current, owner: newOwner, group: newGroup };
  const { acl: entries, permissions: mode } = requested;
  if (entries !== undefined && mode !== undefined) return fail("InvalidPermission");
  if (entries !== undefined) return replaceAcl(owned, entries, resourceType(target));
  return ok(mode === undefined ? owned : setMode(owned, mode));
}
