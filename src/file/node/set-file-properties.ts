import { emptyContent } from "../../content/content-ref.ts";
import { propertiesChange, propertiesRead, type Route } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { byteSpan, fileOperation } from "../file-operation.ts";
import { writeAccess, propertiesAccess, leaseAccess } from "../locks/file-access.ts";
import { coveredBytes, cutSpan, resizeContent } from "../range/write-rules.ts";
import type { NodeRecord } from "../records.ts";
import {
  isReadOnly,
  readOnlyAttribute,
  readInheritedSddl,
  resolveSmbProperties,
  smbHeaderNames,
  smbHeaders,
} from "../shared/smb-properties.ts";
import { fileHeaders } from "../shared/http-headers.ts";
import { updateNode } from "../shared/node-replies.ts";
import { keepsTrailingDots, permissionActions, smbProperties } from "../shared/smb-params.ts";
import { metadata, breakHeaders, leaseAction, leaseChange } from "../../operation/common-params.ts";
import { leaseReply, isLocked } from "../../protocol/lease.ts";
import type { Ticks } from "../../base/ticks.ts";
import { dataAccess, shareDelete, shareWrite } from "../locks/access.ts";
import { fitsQuota, quotaExceeded, readUsed } from "../shared/limits.ts";
import { fileLength } from "../shared/range-params.ts";

/** How much longer a request makes the file; 0 or less if it does not. */
function grownBytes({ content = emptyContent }: NodeRecord, wanted = content.length): number {
  return wanted - content.length;
}

/** The HTTP headers of the request replace all of the file's. Only a request that has none of them
 *  and a length leaves them as they are (recorded). A length truncates or extends the file.
 *  learn.microsoft.com/rest/api/storageservices/set-file-properties */
export const setFileProperties = fileOperation({
  ...propertiesChange,
  name: "Set File Properties",
  ids: ["File_SetHTTPHeaders"],
  route: { method: "PUT", resource: "file", query: { comp: "properties" } },
  since: "2015-02-21",
  params: {
    length: fileLength,
    headers: fileHeaders,
    smb: smbProperties({ words: ["now", "preserve", "none"], requiredByOldVersions: true }),
    keepsTrailingDots,
  },
  permission: { letters: "w", resourceType: "o", furtherActions: permissionActions },
  lease: "match-if-leased",
  fileAccess: {
    ...writeAccess,
    range: ({ length: wanted }, { content = emptyContent }) =>
      wanted === undefined ? undefined : byteSpan(wanted, content.length - wanted),
  },
  event: "SetFileProperties",
  success: { status: 200, headers: [...smbHeaderNames, "x-ms-request-server-encrypted"] },
  reads: async (view, { target, scope, input }) => {
    const { content = emptyContent } = target;
    return {
      used: await readUsed(view, scope.share, grownBytes(target, input.length)),
      cutOff: await coveredBytes(view, content, cutSpan(target, input.length ?? content.length)),
      inherited: await readInheritedSddl(view, scope, input.smb, target),
    };
  },
  decide: ({ target, scope, input, newETag, version, readResult }) => {
    const { share, parent } = scope;
    // A read-only file can be changed only by a request that removes the attribute, or that sets
    // nothing but SMB properties.
    const staysReadOnly =
      typeof input.smb.attributes !== "number" || isReadOnly({ attributes: input.smb.attributes });
    const changesMore = input.length !== undefined || input.headers !== undefined;
    if (isReadOnly(target) && staysReadOnly && changesMore) {
      return fail("ReadOnlyAttribute");
    }
    const resolved = resolveSmbProperties({
      share,
      kind: target.kind,
      parent,
      parentSddl: readResult.inherited,
      input: input.smb,
      present: target,
      now: newETag,
    });
    if (!resolved.ok) return resolved;
    const grown = grownBytes(target, input.length);
    if (!fitsQuota(share, readResult.used, grown)) return quotaExceeded;
    const { content = emptyContent, headers, allocated = 0 } = target;
    const wanted = input.length ?? content.length;
    const resized = resizeContent(target, wanted);
    const next = {
      ...target,
      ...resolved.value.properties,
      headers: input.headers ?? (input.length === undefined ? {} : headers),
      allocated: allocated - readResult.cutOff,
      counted: wanted,
    };
    const plan = resized === undefined ? {} : { content: resized };
    const revised = updateNode(scope, { target, next, ...plan });
    return {
      ...revised,
      effects: [...revised.effects, ...resolved.value.effects],
      headers: { ...smbHeaders(next, version), "x-ms-request-server-encrypted": "true" },
    };
  },
});

/** learn.microsoft.com/rest/api/storageservices/get-file-metadata */
export const getFileMetadata = fileOperation({
  ...propertiesRead,
  name: "Get File Metadata",
  ids: ["File_GetMetadata_GET", "File_GetMetadata_HEAD"],
  route: { method: ["GET", "HEAD"], resource: "file", query: { comp: "metadata" } },
  since: "2015-02-21",
  params: { keepsTrailingDots },
  permission: { letters: "r", resourceType: "o" },
  fileAccess: propertiesAccess,
  event: "none",
  decide: ({ target }) => ({ metadata: target.metadata }),
});

/** Replaces all metadata of the file.
 *  learn.microsoft.com/rest/api/storageservices/set-file-metadata */
export const setFileMetadata = fileOperation({
  ...propertiesChange,
  name: "Set File Metadata",
  ids: ["File_SetMetadata"],
  route: { method: "PUT", resource: "file", query: { comp: "metadata" } },
  since: "2015-02-21",
  params: { metadata, keepsTrailingDots },
  permission: { letters: "w", resourceType: "o" },
  lease: "match-if-leased",
  fileAccess: writeAccess,
  event: "SetFileMetadata",
  success: { status: 200, headers: ["x-ms-request-server-encrypted"] },
  decide: ({ target, scope, input, newETag }) => {
    if ((target.attributes & readOnlyAttribute) !== 0) return fail("ReadOnlyAttribute");
    const next = { ...target, metadata: input.metadata, change: newETag };
    return {
      ...updateNode(scope, { target, next }),
      headers: { "x-ms-request-server-encrypted": "true" },
    };
  },
});

/** File leases are always infinite. learn.microsoft.com/rest/api/storageservices/lease-file */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  return fileOperation({
    ...leaseChange,
    name: "Lease File",
    ids,
    route: { method: "PUT", resource: "file", query: { comp: "lease" }, headers },
    since: "2019-07-07",
    params: { action: leaseAction("file"), keepsTrailingDots },
    permission: { letters, resourceType: "o" },
    conditions: "none",
    fileAccess: {
      ...leaseAccess,
      // Only `acquire` can conflict with open handles: the other actions do not exclude more
      // clients.
      appliesTo: ({ action }) => action.action === "acquire",
    },
    // Leases of files are no events, as those of blobs.
    event: "none",
    decide: ({ target, input, now, newGuid }) =>
      leaseReply({ target, action: input.action, kind: "file", now, newGuid }),
  });
}

export const leaseFile = declareLease(
  ["File_AcquireLease", "File_ChangeLease", "File_ReleaseLease"],
  "w",
);

export const breakFileLease = declareLease(["File_BreakLease"], "wd", breakHeaders);

/** Whether an Azure lease of a file prevents an SMB open. It excludes writing and deleting, like an
 *  open with a share mode that permits only reading (`leaseAccess`). */
export function isLeasedAgainst(
  { kind, lease }: Pick<NodeRecord, "kind" | "lease">,
  access: number,
  now: Ticks,
): boolean {
  if ((dataAccess(access) & (shareWrite | shareDelete)) === 0) return false;
  return kind === "file" && isLocked(lease, now);
}
