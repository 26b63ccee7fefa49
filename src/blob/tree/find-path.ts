import { mapAwaitable } from "../../base/awaitable.ts";
import { resolveParents, type Tree } from "../../namespace/resolve.ts";
import { splitPath } from "../../namespace/paths.ts";
import type { RecordView } from "../../operation/view.ts";
import { blobs, type BlobKey, type BlobRecord } from "../records.ts";
import { isExpired } from "../shared/expiry.ts";

/** Where a path of a container leads. On flat accounts a name is one key, with its slashes. */
export interface PathScope {
  /** Where the target is stored, or would be. */
  readonly key: BlobKey;
  /** The directories from the container's root to the parent; none on flat accounts. */
  readonly ancestors: readonly BlobRecord[];
  /** The names of parent directories that do not exist, from the top down. */
  readonly missingParents: readonly string[];
  /** Whether the first of them is the name of a file. */
  readonly isParentFile: boolean;
}

/** No directory has this id, so that nothing is found below it. */
const noDirectory = 0n;

/** The name under which the root directory of a container is stored, below the container's id. */
export const rootName = "";

export function blobTree(view: RecordView): Tree<BlobRecord> {
  return {
    lookup: (container, name) =>
      mapAwaitable(view.get(blobs, { container, name }), (record) =>
        record === undefined || isExpired(record, view.now) ? undefined : record,
      ),
    directoryId: ({ directory }) => directory,
  };
}

/** Follows a path on a hierarchical account, one record for each component. The empty path leads to
 *  the root directory. */
export async function findPath(
  view: RecordView,
  container: bigint,
  path: string,
): Promise<PathScope> {
  const components = splitPath(path);
  const name = components.at(-1);
  const none = { ancestors: [], missingParents: [], isParentFile: false };
  if (name === undefined) return { key: { container, name: rootName }, ...none };
  const tree = blobTree(view);
  const top = view.get(blobs, { container, name: rootName });
  const root = top instanceof Promise ? await top : top;
  const { ancestors, missing, id, isBlocked } = await resolveParents(
    tree,
    container,
    components.slice(0, -1),
  );
  return {
    key: { container: id ?? noDirectory, name },
    ancestors: root === undefined ? ancestors : [root, ...ancestors],
    missingParents: missing,
    isParentFile: isBlocked,
  };
}
