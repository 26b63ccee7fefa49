import { splitPath, rootName } from "../tree/find-path.ts";
import { laterKey } from "../../encoding/keys.ts";
import { walk, type DirectoryPage, type PageRequest, type WalkEnd } from "../tree/walk.ts";
import type { RecordView } from "../../operation/view.ts";
import { blobs, isExpired, type BlobKey, type BlobRecord } from "../records.ts";

/** Reads whole trees of paths for List Paths, Delete Path and Set Access Control Recursive, on top
 *  of `blob/tree/walk.ts`. */

/** A path that `walkPaths` has read, with its record. */
export interface WalkedPath {
  readonly path: string;
  readonly key: BlobKey;
  readonly record: BlobRecord;
}

/** Where `walkPaths` starts, and which paths it reads. */
interface PathWalk {
  /** The id of the directory below which paths are visited. */
  readonly root: bigint;
  readonly rootPath: string;
  readonly recursive: boolean;
  /** The path to start from, relative to the directory; empty for its first entry. */
  readonly from: string;
  /** Most paths that the walk visits; the next walk continues after them. */
  readonly limit: number;
  /** Whether the entries of a visited directory are visited, too (access control lists may forbid
   *  it); undefined: always. */
  readonly mayEnter?: (record: BlobRecord) => boolean;
}

interface Entry {
  readonly name: string;
  readonly directory: bigint | undefined;
  readonly key: BlobKey;
  readonly record: BlobRecord;
}

/** Result of `walkPaths`. `next`: where the next walk starts; undefined at the end. */
export interface WalkedPage {
  readonly paths: readonly WalkedPath[];
  readonly next: string | undefined;
}

/** Reads the paths below a directory of a hierarchical account, depth first, a directory before its
 *  entries, names ascending. For operations of the Data Lake API on whole trees. */
export async function walkPaths(view: RecordView, options: PathWalk): Promise<WalkedPage> {
  const paths: WalkedPath[] = [];
  const end: WalkEnd | undefined = await walk<Entry>({
    root: options.root,
    rootPath: options.rootPath,
    namePrefix: "",
    recursive: options.recursive,
    from: splitPath(options.from),
    limit: options.limit,
    readPage: (request) => readPage(view, request),
    visit: (path, { key, record }) => {
      paths.push({ path, key, record });
      return options.mayEnter?.(record) === false ? "skip" : undefined;
    },
  });
  return { paths, next: end?.path };
}

async function readPage(view: RecordView, request: PageRequest): Promise<DirectoryPage<Entry>> {
  const { directory: container, namePrefix, from, limit } = request;
  const within = blobs.range([container], namePrefix);
  const first = from?.[0] === undefined ? within.start : blobs.key({ container, name: from[0] });
  const start = laterKey(within.start, first);
  const entries: Entry[] = [];
  for await (const batch of view.scan(blobs, { start, end: within.end })) {
    for (const { key, record } of batch) {
      const name = blobs.parts(key)[1] as string;
      if (name === rootName || isExpired(record, view.now)) continue;
      if (entries.length === limit) return { entries, next: [name] };
      entries.push({ name, directory: record.directory, key: { container, name }, record });
    }
  }
  return { entries, next: undefined };
}
