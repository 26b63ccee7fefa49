import { periodJob, put, reclaimOwned, remove, type Effect } from "../../operation/effects.ts";
import { blobs, uploads, type BlobKey, type BlobRecord, type UploadRecord } from "../records.ts";
import { dropUpload } from "../shared/overwrite.ts";

interface PathMove {
  readonly from: BlobKey;
  readonly to: BlobKey;
  readonly record: BlobRecord;
  /** Uncommitted blocks or appended data of the source, and of the path it moves to. */
  readonly upload: UploadRecord | undefined;
  readonly replacedUpload: UploadRecord | undefined;
}

/** Moves a file or a directory: a constant number of keys, whatever is below it. A file or an empty
 *  directory at the new path is replaced; the caller keeps it where deletes can be undone. */
export function movePath(move: PathMove): readonly Effect[] {
  const { from, to, record, upload, replacedUpload } = move;
  if (from.container === to.container && from.name === to.name) return [];
  const { directory } = record;
  const added = put(blobs, to, record);
  const removed = remove(blobs, from);
  return [
    // The index of directories has one entry for an id: that of the new path must be the last. The
    // content of a file must not be without a reference in between.
    ...(directory === undefined ? [added, removed] : [removed, added]),
    ...dropUpload(to, replacedUpload),
    ...(upload === undefined ? [] : moveUpload(from, to, upload)),
    ...periodJob(blobs, to, record),
  ];
}

function moveUpload(from: BlobKey, to: BlobKey, upload: UploadRecord): readonly Effect[] {
  return [remove(uploads, from), put(uploads, to, upload), ...periodJob(uploads, to, upload)];
}

/** What is below a directory that no path leads to any more is removed in bounded steps. */
export function reclaimBelow({ directory }: BlobRecord): readonly Effect[] {
  return directory === undefined ? [] : [reclaimOwned("container", directory)];
}
