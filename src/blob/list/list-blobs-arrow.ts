import { arrowStreamType, writeArrowStream } from "../../encoding/arrow/stream.ts";
import { formatMarker, nameText } from "../../operation/listing.ts";
import { noBody } from "../../operation/operation.ts";
import { query } from "../../protocol/params.ts";
import { isHierarchical, operation } from "../resources.ts";
import { listTree } from "../tree/list-tree.ts";
import { arrowRow, blobColumns, type BlobRow } from "./arrow-row.ts";
import { checkList, entryOptions, listParams, selectionOf } from "./list-request.ts";
import { scanBlobs, type ListEntry } from "./scan-blobs.ts";

/** `endbefore`: the listing ends before this name. */
const endBefore = query("endbefore", nameText);

/** List Blobs in Arrow format. The metadata of the Arrow schema contains the continuation; prefixes
 *  are rows. learn.microsoft.com/rest/api/storageservices/list-blobs */
export const listBlobsArrow = operation({
  name: "List Blobs (Apache Arrow)",
  ids: [
    "Container_ListBlobFlatSegmentApacheArrow",
    "Container_ListBlobHierarchySegmentApacheArrow",
  ],
  route: {
    method: ["GET", "HEAD"],
    resource: "container",
    query: { restype: "container", comp: "list" },
    accepts: arrowStreamType,
  },
  since: "2026-10-06",
  params: { ...listParams, endBefore },
  body: noBody,
  permission: { letters: "l", resourceType: "c", publicRead: "container", posix: {} },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  largeResponse: true,
  success: { status: 200, headers: [] },
  reads: async (view, { target, input, now, features, scope, aclCaller }) => {
    const options = entryOptions(input, { now, features, scope });
    const all = selectionOf(target.id, input, aclCaller);
    const selection = { ...all, endBefore: input.endBefore };
    const rows: BlobRow[] = [];
    const emit = (entry: ListEntry) => void rows.push(arrowRow(entry, options));
    const scan = isHierarchical(scope) ? listTree : scanBlobs;
    const { next, isDenied } = await scan(view, selection, emit);
    const metadata = {
      NextMarker: next === undefined ? "" : formatMarker(next),
      NumberOfRecords: String(rows.length),
    };
    const required = ["Name"] as const;
    const bytes = await writeArrowStream({ columns: blobColumns, required, rows, metadata });
    return { bytes, isDenied };
  },
  decide: ({ input, readResult: { bytes, isDenied }, scope }) => {
    const allowed = checkList(input, scope, isDenied);
    if (!allowed.ok) return allowed;
    return { body: { type: arrowStreamType, bytes } };
  },
});
