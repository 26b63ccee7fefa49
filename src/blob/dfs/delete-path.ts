import { noBody } from "../../operation/operation.ts";
import type { RecordView } from "../../operation/view.ts";
import { boolean, query } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { uploads, type BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { blobKey } from "../shared/overwrite.ts";
import { deletePath, deletionHeaderNames, isDirectoryEmpty } from "../tree/delete-path.ts";
import { rootName } from "../tree/find-path.ts";
import { continuation } from "./continuation.ts";

const notEmptyText =
  "The recursive query parameter value must be true to delete a non-empty directory.";

/** Deletes a path, and everything below a directory, in one commit. Reclaim jobs free the space
 *  later. learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/delete */
export const deleteAnyPath = operation({
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
  isDeletion: true,
  success: { status: 200, headers: deletionHeaderNames },
  reads: async (view, { scope, target, input }) => ({
    upload: await view.get(uploads, blobKey({ scope })),
    isEmpty: input.recursive === true || (await isReplaceable(view, target)),
  }),
  decide: (context) => {
    const { scope, address, target, newETag, readResult } = context;
    if (scope.key.name === rootName) return fail("InvalidUri");
    if (!readResult.isEmpty) return fail("DirectoryNotEmpty", { message: notEmptyText });
    return deletePath({ scope, address, target, newETag, upload: readResult.upload });
  },
});

/** Whether a path is a file or a directory without entries. */
export async function isReplaceable(view: RecordView, { directory }: BlobRecord): Promise<boolean> {
  return directory === undefined || isDirectoryEmpty(view, directory);
}
