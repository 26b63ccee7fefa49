import { noBody } from "../../operation/operation.ts";
import type { RecordView } from "../../operation/view.ts";
import { boolean, query } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { blobs, uploads, type BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { blobKey, dropUpload } from "../shared/overwrite.ts";
import { isExpired } from "../shared/expiry.ts";
import { rootName } from "../tree/find-path.ts";
import { reclaimBelow } from "../tree/move-path.ts";
import { continuation } from "./continuation.ts";

const notEmptyText =
  "The recursive query parameter value must be true to delete a non-empty directory.";

/** One commit, whatever is below a directory; the space comes back in the background.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/delete */
export const deletePath = operation({
  name: "Delete Path",
  ids: ["Path_Delete"],
  route: { method: "DELETE", resource: "blob" },
  since: "2018-11-09",
  params: {
    recursive: query("recursive", boolean),
    paginated: query("paginated", boolean),
    continuation,
  },
  body: noBody,
  permission: { letters: "d", resourceType: "o" },
  target: "must-exist",
  conditions: "write",
  lease: "match-if-leased",
  policy: { content: "remove", generations: "current", pendingCopy: "reject", clientKey: "none" },
  etag: "none",
  effect: "writes",
  removes: true,
  success: { status: 200, headers: ["x-ms-delete-type-permanent", "x-ms-deletion-id"] },
  reads: async (view, { scope, target, input }) => ({
    upload: await view.get(uploads, blobKey({ scope })),
    isEmpty: input.recursive === true || (await isEmptyDirectory(view, target)),
  }),
  decide: (context) => {
    const { target, readResult } = context;
    const key = blobKey(context);
    if (key.name === rootName) return fail("InvalidUri");
    if (!readResult.isEmpty) return fail("DirectoryNotEmpty", { message: notEmptyText });
    return {
      remove: true,
      effects: [...dropUpload(key, readResult.upload), ...reclaimBelow(target)],
      headers: { "x-ms-delete-type-permanent": "true" },
    };
  },
});

/** Whether nothing is below it; files count as empty. */
export async function isEmptyDirectory(
  view: RecordView,
  { directory }: BlobRecord,
): Promise<boolean> {
  if (directory === undefined) return true;
  for await (const batch of view.scan(blobs, blobs.range([directory]))) {
    if (batch.some(({ record }) => !isExpired(record, view.now))) return false;
  }
  return true;
}
