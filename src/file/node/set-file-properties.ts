import { emptyContent } from "../../content/content-ref.ts";
import { propertiesChange, type Route } from "../../operation/operation.ts";
import { fail } from "../../protocol/result.ts";
import { byteSpan, fileOperation } from "../file-operation.ts";
import { writeAccess, leaseAccess } from "../locks/file-access.ts";
import { coveredBytes, cutSpan, resizeContent } from "../range/write-rules.ts";
import type { NodeRecord } from "../records.ts";
import { isReadOnly, readInheritedSddl } from "../shared/smb-properties.ts";
import { fileHeaders } from "../shared/http-headers.ts";
import { changeProperties } from "../shared/create-node.ts";
import { permissionActions, smbProperties } from "../shared/smb-params.ts";
import { breakHeaders, leaseAction, leaseChange } from "../../operation/common-params.ts";
import { leaseReply, isLocked } from "../../protocol/lease.ts";
import type { Ticks } from "../../base/ticks.ts";
import { dataAccess, shareDelete, shareWrite } from "../locks/access.ts";
import { fitsQuota, quotaExceeded, readUsed } from "../shared/limits.ts";
import { fileLength } from "../shared/range-params.ts";

/** Set File Properties and Lease File, and the check by which SMB opens respect a lease of a file.
 *  */

/** By how many bytes a request makes the file longer; 0 or less if it does not. Only growth is
 *  checked against the quota of the share. */
function grownBytes({ content = emptyContent }: NodeRecord, wanted = content.length): number {
  return wanted - content.length;
}

/** The HTTP headers of the request replace all HTTP headers of the file. Only a request with a
 *  length and without such headers leaves them as they are (recorded from Azure). A length
 *  truncates or extends the file.
 *  learn.microsoft.com/rest/api/storageservices/set-file-properties */
export const setFileProperties = fileOperation({
  ...propertiesChange,
  name: "Set File Properties",
  ids: ["File_SetHTTPHeaders"],
  route: { method: "PUT", resource: "file", query: { comp: "properties" } },
  params: {
    length: fileLength,
    headers: fileHeaders,
    smb: smbProperties({ words: ["now", "preserve", "none"], requiredByOldVersions: true }),
  },
  permission: { letters: "w", resourceType: "o", furtherActions: permissionActions },
  lease: "match-if-leased",
  fileAccess: {
    ...writeAccess,
    range: ({ length: wanted }, { content = emptyContent }) =>
      wanted === undefined ? undefined : byteSpan(wanted, content.length - wanted),
  },
  event: "SetFileProperties",
  reads: async (view, { target, scope, input }) => {
    const { content = emptyContent } = target;
    return {
      used: await readUsed(view, scope.share, grownBytes(target, input.length)),
      cutOff: await coveredBytes(view, target, cutSpan(target, input.length ?? content.length)),
      inherited: await readInheritedSddl(view, scope, input.smb, target),
    };
  },
  decide: (context) => {
    const { target, scope, input, readResult } = context;
    // A read-only file can be changed only by a request that removes the attribute, or that sets
    // nothing but SMB properties.
    const staysReadOnly =
      typeof input.smb.attributes !== "number" || isReadOnly({ attributes: input.smb.attributes });
    const changesMore = input.length !== undefined || input.headers !== undefined;
    if (isReadOnly(target) && staysReadOnly && changesMore) return fail("ReadOnlyAttribute");
    const { content = emptyContent, headers, allocated = 0 } = target;
    const wanted = input.length ?? content.length;
    const reply = changeProperties(context, {
      parentSddl: readResult.inherited,
      fields: {
        headers: input.headers ?? (input.length === undefined ? {} : headers),
        allocated: allocated - readResult.cutOff,
        counted: wanted,
      },
      content: resizeContent(target, wanted),
    });
    if ("fault" in reply) return reply;
    const grown = grownBytes(target, input.length);
    return fitsQuota(scope.share, readResult.used, grown) ? reply : quotaExceeded;
  },
});

/** Declares Lease File; breaking is an operation of its own, because it needs other permissions.
 *  File leases are always infinite. learn.microsoft.com/rest/api/storageservices/lease-file */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  return fileOperation({
    ...leaseChange,
    name: "Lease File",
    ids,
    route: { method: "PUT", resource: "file", query: { comp: "lease" }, headers },
    since: "2019-07-07",
    params: { action: leaseAction("file") },
    permission: { letters, resourceType: "o" },
    conditions: "none",
    fileAccess: {
      ...leaseAccess,
      // Only `acquire` can conflict with open handles, because the other actions do not exclude
      // further clients.
      appliesTo: ({ action }) => action.action === "acquire",
    },
    // Leases are no changes of a file, so they are no events, like the leases of blobs.
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
