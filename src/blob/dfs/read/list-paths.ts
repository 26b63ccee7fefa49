import { encodeBase64 } from "../../../base/base64.ts";
import { bareETag } from "../../../protocol/conditions.ts";
import { formatHttpDate } from "../../../base/dates.ts";
import { laterKey, successor } from "../../../encoding/keys.ts";
import { fileTimeStart, type Ticks } from "../../../base/ticks.ts";
import { largeListing } from "../../../operation/operation.ts";
import type { RecordView } from "../../../operation/view.ts";
import { boolean, query, required, text } from "../../../protocol/params.ts";
import type { AclCaller } from "../../../protocol/posix-access.ts";
import { formatPermissions } from "../../../protocol/posix-acl.ts";
import { blobNameUnitsMax, isListedPath } from "../../../protocol/names.ts";
import { fail } from "../../../protocol/result.ts";
import { blobs, isExpired, type BlobRecord, type ContainerRecord } from "../../records.ts";
import { isHierarchical, pathOperation } from "../../resources.ts";
import { findPath, rootName, accessOf, joinPath } from "../../tree/find-path.ts";
import { mayEnter, mayList } from "../../tree/list-access.ts";
import { continuationHeader, continuationOf, listingContinuation } from "../continuation.ts";
import { jsonListBody } from "../dialect.ts";
import { maxResults, upn } from "../params.ts";
import { walkPaths } from "../path-walk.ts";
import { hasFolderMark } from "../../tree/create-parents.ts";

/** List Paths: the entries of a directory, or everything below it, on hierarchical and flat
 *  accounts. */

/** The listing of a file has the file itself: Hadoop lists a file to get its status. */
function listFile(record: BlobRecord, path: string): PathPage {
  return { paths: [{ path, record, isDirectory: false }], next: undefined };
}

/** Lists the paths of a flat account; undefined if there is no directory of this name. Blob names
 *  are paths, and a blob with the folder mark in its metadata is a directory. Without `recursive`,
 *  a common prefix up to a slash is listed as a directory, too. */
async function listFlat(
  view: RecordView,
  { container, directory, recursive, from, limit }: PathSelection,
): Promise<PathPage | undefined> {
  const prefix = directory === "" ? "" : `${directory}/`;
  if (directory !== "" && from === undefined) {
    const start = await view.get(blobs, { container: container.id, name: directory });
    const isPresent = start !== undefined && !isExpired(start, view.now);
    if (isPresent && !hasFolderMark(start.metadata)) return listFile(start, directory);
    if (!isPresent && (await nextOf(view, blobs.range([container.id], prefix))) === undefined) {
      return undefined;
    }
  }
  const { start, end } = blobs.range([container.id], prefix);
  // The client's token is cut: a longer text would not fit into a key.
  const name = from?.slice(0, blobNameUnitsMax);
  const listed: ListedPath[] = [];
  let at = name === undefined ? start : laterKey(start, blobs.prefix([container.id, name]));
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
    at = slash < 0 ? successor(found.key) : blobs.range([container.id], `${path}/`).end;
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

/** Azure's limit of paths in one page of List Paths; the client requests the rest with a
 *  continuation token. */
const pathsMax = 5000;

/** A path in the response of List Paths. */
interface ListedPath {
  readonly path: string;
  /** Undefined for a directory of a flat account that has no blob: it is only the common prefix of
   *  names. */
  readonly record: BlobRecord | undefined;
  readonly isDirectory: boolean;
}

/** One page of a listing. `next` is the path with which the next page starts; undefined at the
 *  end. */
interface PathPage {
  readonly paths: readonly ListedPath[];
  readonly next: string | undefined;
  /** Whether access control lists forbid the caller to list some of the paths. */
  readonly isDenied?: boolean;
}

/** What a page of List Paths may contain: the entries of a directory, from the path `from` on. */
interface PathSelection {
  readonly container: ContainerRecord;
  readonly directory: string;
  readonly recursive: boolean;
  readonly from: string | undefined;
  readonly limit: number;
}

/** Lists a directory, with `recursive` everything below it: a directory before its entries, names
 *  ascending, without the listed directory itself.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/list */
export const listPaths = pathOperation({
  name: "List Paths",
  ids: ["FileSystem_ListPaths"],
  route: {
    method: "GET",
    resource: "container",
    query: { resource: "filesystem", recursive: true },
  },
  params: {
    recursive: required(query("recursive", boolean)),
    directory: query("directory", text),
    continuation: listingContinuation,
    beginFrom: query("beginFrom", (path) => (isListedPath(path) ? path : undefined)),
    maxResults,
    upn,
  },
  permission: { letters: "l", resourceType: "c", posix: {}, reachesBelow: () => true },
  ...largeListing,
  reads: (view, { scope, target, address, input, aclCaller }) => {
    const { recursive, maxResults: results = pathsMax } = input;
    const { blob: directory } = address;
    const place = input.continuation ?? { path: input.beginFrom ?? "", isEntry: true };
    const from = place.isEntry ? place.path && joinPath(directory, place.path) : place.path;
    const limit = Math.min(results, pathsMax);
    const selection = { container: target, directory, recursive, from: from || undefined, limit };
    if (!isHierarchical(scope)) return listFlat(view, selection);
    return aclCaller === undefined
      ? listTree(view, selection)
      : listAllowed(view, selection, aclCaller);
  },
  decide: ({ readResult, scope }) => {
    if (readResult === undefined) return fail("PathNotFound");
    if (readResult.isDenied === true) return fail("AuthorizationPermissionMismatch");
    const withAccess = isHierarchical(scope);
    const { next } = readResult;
    return {
      headers: { [continuationHeader]: next === undefined ? undefined : continuationOf(next) },
      body: jsonListBody("paths", readResult.paths, (path) => describe(path, withAccess)),
    };
  },
});

/** Lists what access control lists permit the caller to list of a directory. */
async function listAllowed(
  view: RecordView,
  selection: PathSelection,
  caller: AclCaller,
): Promise<PathPage | undefined> {
  const { container, directory, from, recursive } = selection;
  const listing = { container: container.id, directory, from };
  if (!(await mayList(view, listing, caller))) return denied;
  const page = await listTree(view, selection);
  if (page === undefined || !recursive) return page;
  const isAllowed = page.paths.every(({ record }) => !record || mayEnter(record, caller));
  return isAllowed ? page : denied;
}

const denied: PathPage = { paths: [], next: undefined, isDenied: true };

/** Lists a directory of a hierarchical account; undefined if it does not exist. */
async function listTree(
  view: RecordView,
  { container, directory, recursive, from, limit }: PathSelection,
): Promise<PathPage | undefined> {
  const { key } = await findPath(view, container.id, directory);
  const start = await view.get(blobs, key);
  const root = directory === "" ? container.id : start?.directory;
  const isGone = start !== undefined && isExpired(start, view.now);
  if (isGone && key.name !== rootName) return undefined;
  if (root === undefined) return start && listFile(start, directory);
  const prefix = directory === "" ? "" : `${directory}/`;
  if (from !== undefined && !from.startsWith(prefix)) return { paths: [], next: undefined };
  const { paths, next } = await walkPaths(view, {
    root,
    rootPath: directory,
    recursive,
    from: from === undefined ? "" : from.slice(prefix.length),
    limit,
  });
  const listed = paths.map(({ path, record }) => {
    return { path, record, isDirectory: record.directory !== undefined };
  });
  return { paths: listed, next };
}

function fileTime(time: Ticks): string {
  return String(time - fileTimeStart);
}

/** The JSON object of a listed path. All values are strings, in the order recorded from Azure. */
function describe({ path, record, isDirectory }: ListedPath, withAccess: boolean) {
  if (record === undefined) return { contentLength: "0", isDirectory: "true", name: path };
  const access = withAccess ? accessOf(record) : undefined;
  const { encryptionContext, encryptionScope, expiresAt, keySha256 } = record;
  return {
    CustomerProvidedKeySha256: keySha256 && encodeBase64(keySha256),
    EncryptionContext: encryptionContext,
    EncryptionScope: encryptionScope,
    contentLength: String(record.content.length),
    creationTime: withAccess ? fileTime(record.created) : formatHttpDate(record.created),
    etag: bareETag(record.etag),
    expiryTime: withAccess ? (expiresAt === undefined ? "0" : fileTime(expiresAt)) : undefined,
    group: access?.group,
    isDirectory: isDirectory ? "true" : undefined,
    lastModified: formatHttpDate(record.etag),
    name: path,
    owner: access?.owner,
    permissions: access && formatPermissions(access),
  };
}
