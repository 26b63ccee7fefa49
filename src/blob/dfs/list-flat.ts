import type { RecordView } from "../../operation/view.ts";
import { blobNameUnitsMax } from "../../protocol/names.ts";
import { blobs } from "../records.ts";
import { isExpired } from "../shared/expiry.ts";
import { hasFolderMark } from "../tree/directory-record.ts";
import type { ListedPath, PathPage, PathSelection } from "./list-paths.ts";

/** Lists the paths of a flat account. Its blob names are paths, and a blob with the folder mark in
 *  its metadata is a directory. Without `recursive`, a common prefix up to a slash is listed as a
 *  directory, too. */
export async function listFlat(
  view: RecordView,
  { container, directory, recursive, from, limit }: PathSelection,
): Promise<PathPage> {
  const prefix = directory === "" ? "" : `${directory}/`;
  const { start, end } = blobs.range([container.id], prefix);
  // A longer text in a token would not fit into a key.
  const name = from?.slice(0, blobNameUnitsMax);
  const first = name === undefined ? undefined : blobs.prefix([container.id, name]);
  const listed: ListedPath[] = [];
  let at = first !== undefined && Buffer.compare(first, start) > 0 ? first : start;
  for (;;) {
    const found = await nextOf(view, { start: at, end });
    if (found === undefined) return { paths: listed, next: undefined };
    const { name: full, record } = found;
    const slash = recursive ? -1 : full.indexOf("/", prefix.length);
    const path = slash < 0 ? full : full.slice(0, slash);
    const isRepeated = listed.at(-1)?.path === path;
    if (!isRepeated) {
      if (listed.length === limit) return { paths: listed, next: full };
      const isDirectory = slash >= 0 || hasFolderMark(record.metadata);
      listed.push({ path, record: slash < 0 ? record : undefined, isDirectory });
    }
    at = slash < 0 ? after(found.key) : blobs.range([container.id], `${path}/`).end;
  }
}

async function nextOf(view: RecordView, bounds: { start: Uint8Array; end: Uint8Array }) {
  for await (const batch of view.scan(blobs, bounds)) {
    for (const { key, record } of batch) {
      if (isExpired(record, view.now)) continue;
      return { key, record, name: blobs.parts(key)[1] as string };
    }
  }
  return undefined;
}

function after(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, Buffer.of(0)]);
}
