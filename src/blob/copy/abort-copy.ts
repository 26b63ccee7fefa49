import { empty } from "../../content/plan.ts";
import { noBody } from "../../operation/operation.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { query, required } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { dropTransfer } from "../../operation/transfer.ts";
import { operation } from "../resources.ts";

/** Ends a pending copy. The target stays, empty and with its metadata.
 *  learn.microsoft.com/rest/api/storageservices/abort-copy-blob */
export const abortCopyBlob = operation({
  name: "Abort Copy Blob",
  ids: ["Blob_AbortCopyFromURL"],
  route: {
    method: "PUT",
    resource: "blob",
    query: { comp: "copy" },
    headers: { "x-ms-copy-action": "abort" },
  },
  since: "2012-02-12",
  params: { copyId: required(query("copyid", parseGuid, "copyid needs to be valid Guid.")) },
  body: noBody,
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "none",
  effect: "writes",
  policy: {
    content: "none",
    generations: "current",
    pendingCopy: "allow",
    clientKey: "none",
    directories: "reject",
    event: "AbortCopyBlob",
  },
  success: { status: 204, headers: [] },
  decide: ({ target, input, newETag, now }) => {
    const { copy } = target;
    if (copy?.status !== "pending") return fail("NoPendingCopyOperation");
    if (copy.id !== input.copyId) return fail("CopyIdMismatch");
    const aborted = { ...copy, status: "aborted" as const, completed: now };
    return {
      put: { ...target, etag: newETag, copy: aborted },
      content: empty(0),
      effects: [dropTransfer(copy.id)],
    };
  },
});
