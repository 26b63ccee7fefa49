import { successor } from "../../encoding/keys.ts";
import type { RecordView } from "../../operation/view.ts";
import {
  blobs,
  isExpired,
  uploads,
  type BlobKey,
  type BlobRecord,
  type UploadRecord,
} from "../records.ts";
import { hasFolderMark } from "../tree/create-parents.ts";

/** Directories of flat accounts, for the Data Lake API: prefixes of names up to a slash, or blobs
 *  with the folder mark (metadata `hdi_isfolder=true`). */

/** Whether blobs are below a name, as in a directory: their names continue it with a slash. */
export async function hasBlobsBelow(
  view: RecordView,
  { container, name }: BlobKey,
): Promise<boolean> {
  for await (const batch of view.scan(blobs, blobs.range([container], `${name}/`))) {
    if (batch.some(({ record }) => !isExpired(record, view.now))) return true;
  }
  return false;
}

/** Whether a name is a prefix of other names, as that of a directory. The root directory always
 *  exists. */
export async function isPrefix(view: RecordView, key: BlobKey): Promise<boolean> {
  return key.name === "" || hasBlobsBelow(view, key);
}

/** Whether a name on a flat account is that of a file, of a directory, or of neither. */
export async function kindOfName(
  view: RecordView,
  key: BlobKey,
): Promise<"file" | "directory" | "none"> {
  const record: BlobRecord | undefined = await view.get(blobs, key);
  if (record !== undefined && !isExpired(record, view.now)) {
    return hasFolderMark(record.metadata) ? "directory" : "file";
  }
  return (await isPrefix(view, key)) ? "directory" : "none";
}

/** The key of the directory that a name is in. */
export function parentKey({ container, name }: BlobKey): BlobKey {
  return { container, name: name.slice(0, Math.max(name.lastIndexOf("/"), 0)) };
}

/** The directory that a name is in, if it would vanish with the path of that name: no blob has the
 *  directory's name, and no other path is in it. Delete and rename of the Data Lake API then create
 *  a blob for this directory, because a directory must remain after its last path is gone. */
export async function dependentParent(
  view: RecordView,
  key: BlobKey,
): Promise<DependentParent | undefined> {
  const parent = parentKey(key);
  if (parent.name === "" || (await view.get(blobs, parent)) !== undefined) return undefined;
  const all = blobs.range([key.container], `${parent.name}/`);
  const below = blobs.range([key.container], `${key.name}/`);
  const own = blobs.key(key);
  // Names that continue `name` with a character before the slash (`name-1`) sort between `name` and
  // `name/…`, so further ranges are scanned.
  const others = [
    { start: all.start, end: own },
    { start: successor(own), end: below.start },
    { start: below.end, end: all.end },
  ];
  for (const bounds of others) {
    for await (const batch of view.scan(blobs, { ...bounds, limit: 1 })) {
      if (batch.length > 0) return undefined;
    }
  }
  return { key: parent, upload: await view.get(uploads, parent) };
}

/** A directory of a flat account that needs a separate blob in order to remain; with the
 *  uncommitted blocks of that name, which the new blob keeps. */
export interface DependentParent {
  readonly key: BlobKey;
  readonly upload: UploadRecord | undefined;
}

/** Whether a name is below a file, so that no path can be created there: a file has the name of one
 *  of its directories. */
export async function isBelowFile(
  view: RecordView,
  { container, name }: BlobKey,
): Promise<boolean> {
  for (let at = name.indexOf("/"); at >= 0; at = name.indexOf("/", at + 1)) {
    const above = await view.get(blobs, { container, name: name.slice(0, at) });
    const isPresent = above !== undefined && !isExpired(above, view.now);
    if (isPresent && !hasFolderMark(above.metadata)) return true;
  }
  return false;
}
