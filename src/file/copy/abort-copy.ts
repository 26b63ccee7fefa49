import { empty } from "../../content/content-ref.ts";
import { invalidQuery } from "../../protocol/faults.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { checked, query, required, text } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { dropTransfer } from "../../operation/transfer.ts";
import { fileOperation } from "../file-operation.ts";
import { writeAccess } from "../locks/file-access.ts";
import { updateNode } from "../shared/node-replies.ts";
import { keepsTrailingDots } from "../shared/smb-params.ts";

const copyId = checked(required(query("copyid", text)), (value) => {
  const id = parseGuid(value);
  return id === undefined
    ? invalidQuery("copyid", value, "copyid needs to be valid Guid.")
    : ok(id);
});

/** Stops a pending copy and leaves the target as an empty file.
 *  learn.microsoft.com/rest/api/storageservices/abort-copy-file */
export const abortCopyFile = fileOperation({
  name: "Abort Copy File",
  ids: ["File_AbortCopy"],
  route: {
    method: "PUT",
    resource: "file",
    query: { comp: "copy" },
    headers: { "x-ms-copy-action": "abort" },
  },
  since: "2015-02-21",
  params: { copyId, keepsTrailingDots },
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  fileAccess: writeAccess,
  effect: "writes",
  acceptsPendingCopy: true,
  event: "AbortCopyFile",
  success: { status: 204, headers: [] },
  decide: ({ target, scope, input, newETag, now }) => {
    const { copy } = target;
    if (copy?.status !== "pending") return fail("NoPendingCopyOperation");
    if (copy.id !== input.copyId) return fail("CopyIdMismatch");
    const aborted = { ...copy, status: "aborted" as const, completed: now };
    const next = { ...target, etag: newETag, copy: aborted, allocated: 0, counted: 0 };
    const revised = updateNode(scope, { target, next, content: empty(0) });
    return { ...revised, effects: [...revised.effects, dropTransfer(copy.id)] };
  },
});
