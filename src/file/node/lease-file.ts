import { breakHeaders, leaseAction, leaseChange } from "../../operation/common-params.ts";
import type { Route } from "../../operation/operation.ts";
import { fileOperation } from "../file-operation.ts";
import { leaseAccess } from "../locks/file-access.ts";
import { leaseReply } from "../../protocol/lease-action.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";

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
    // As for blobs.
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
