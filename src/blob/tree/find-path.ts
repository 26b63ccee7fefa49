import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import { resolveParents, type Tree } from "./resolve.ts";
import { splitPath } from "./paths.ts";
import type { RecordView } from "../../operation/view.ts";
import { blobs, isExpired, type BlobKey, type BlobRecord } from "../records.ts";

/** Where a path of a container is stored. On flat accounts the whole name, with its slashes, is one
 *  key. */
export interface PathScope {
  /** The key of the target, whether or not it exists. */
  readonly key: BlobKey;
  /** The records of the directories from the root to the parent; empty on flat accounts. */
  readonly ancestors: readonly BlobRecord[];
  /** The names of the parent directories that do not exist, from the top down. */
  readonly missingParents: readonly string[];
  /** Whether a file has the name of the first missing directory. */
  readonly hasFileAsParent: boolean;
}

/** No directory has this id, so nothing is found under it. */
const noDirectory = 0n;

/** The name under which the root directory of a container is stored, with the container's id. */
export const rootName = "";

/** The tree of directories as `blob/tree/resolve.ts` reads it. */
export function blobTree(view: RecordView): Tree<BlobRecord> {
  return {
    lookup: (container, name) =>
      mapAwaitable(view.get(blobs, { container, name }), (record) =>
        record === undefined || isExpired(record, view.now) ? undefined : record,
      ),
    directoryId: ({ directory }) => directory,
  };
}

/** Looks up a path on a hierarchical account, one record for each name in it. The empty path is
 *  that of the root directory. */
export function findPath(view: RecordView, container: bigint, path: string): Awaitable<PathScope> {
  const components = splitPath(path);
  const name = components.at(-1);
  if (name === undefined) return { key: { container, name: rootName }, ...noParents };
  const names = components.slice(0, -1);
  return mapAwaitable(view.get(blobs, { container, name: rootName }), (root) =>
    mapAwaitable(resolveParents(blobTree(view), container, names), (parents) => {
      const { ancestors, missing, id, isBlocked } = parents;
      return {
        key: { container: id ?? noDirectory, name },
        ancestors: root === undefined ? ancestors : [root, ...ancestors],
        missingParents: missing,
        hasFileAsParent: isBlocked,
      };
    }),
  );
}

const noParents = { ancestors: [], missingParents: [], hasFileAsParent: false } as const;
