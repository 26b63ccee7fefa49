import { comparePaths, splitPath, resolveParents, findPath } from "./find-path.ts";
import { walk, type DirectoryPage, type PageRequest, type Position } from "./walk.ts";
import type { RecordView } from "../../operation/view.ts";
import type { AclCaller } from "../../protocol/posix-access.ts";
import { scanBlobs, type ListEntry, type Page, type Selection } from "../list/scan-blobs.ts";
import { mayEnter, mayList } from "./list-access.ts";

/** List Blobs on hierarchical accounts: the same selection as `blob/list/scan-blobs.ts`, in the
 *  order of the tree of directories. */

/** An entry that the walk of the tree visits: a file or directory, as the listing shows it. */
interface TreeEntry {
  readonly name: string;
  // The id of the entry if it is a directory; undefined for a file.
  readonly directory: bigint | undefined;
  readonly listed: ListEntry;
}

/** The fields of the selection for reading one directory: only current paths. Soft-deleted ones are
 *  keyed by the whole path, so `listDeleted` lists them like the names of flat accounts. */
const onlyPresent = {
  deleted: false,
  versions: false,
  deletedWithVersions: false,
  delimiter: "",
} as const;

/** Does the same as `scanBlobs` for hierarchical accounts, in the order of the tree: a directory,
 *  then its entries. With a delimiter, directories are listed as prefixes, without their
 *  entries. */
export async function listTree(
  view: RecordView,
  selection: Selection,
  emit: (entry: ListEntry) => void,
): Promise<Page> {
  const { container, prefix, delimiter, from = [], endBefore, limit, caller } = selection;
  const rootPath = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const listing = { container, directory: rootPath, from: from[0] };
  const isListable = caller === undefined || (await mayList(view, listing, caller));
  if (!isListable) return { next: undefined, isDenied: true };
  if (selection.onlyDeleted) return listDeleted(view, selection, emit);
  const [fromPath = "", ...fromRest] = from;
  const rootNames = splitPath(rootPath);
  const start = relativeTo(rootNames, splitPath(fromPath));
  const { id } = await resolveParents(view, container, rootNames);
  if (id === undefined || start === undefined) return { next: undefined };
  const end = endBefore === undefined ? undefined : splitPath(endBefore);
  const recursive = delimiter === "";
  let isDenied = false;
  const next = await walk<TreeEntry>({
    root: id,
    rootPath: rootNames.join("/"),
    namePrefix: prefix.slice(prefix.lastIndexOf("/") + 1),
    recursive,
    from: start,
    fromRest,
    limit,
    readPage: (request) => readDirectory(view, selection, request),
    visit: (path, { listed, directory }) => {
      if (end !== undefined && comparePaths(splitPath(path), end) >= 0) return "stop";
      if (caller !== undefined && recursive && !mayEnterListed(listed, caller)) isDenied = true;
      const isListed = selection.kind === undefined || selection.kind === kindOf(directory);
      if (isListed) emit(asListed(path, listed, directory !== undefined && delimiter !== ""));
      return undefined;
    },
  });
  return { next: next && [next.path, ...next.rest], isDenied };
}

/** Lists soft-deleted paths of a hierarchical account. A caller whom access control lists limit
 *  must be able to list every directory that a path was in; a directory that no longer exists has
 *  no list that could permit it. */
async function listDeleted(
  view: RecordView,
  selection: Selection,
  emit: (entry: ListEntry) => void,
): Promise<Page> {
  const { container, caller } = selection;
  const listed: ListEntry[] = [];
  const page = await scanBlobs(view, { ...selection, delimiter: "" }, (entry) => {
    listed.push(entry);
  });
  if (caller !== undefined) {
    for (const { name } of listed) {
      const { ancestors, missingParents } = await findPath(view, container, name);
      const isShown = ancestors.every((each) => mayEnter(each, caller));
      if (missingParents.length > 0 || !isShown) return { next: undefined, isDenied: true };
    }
  }
  for (const entry of listed) emit(entry);
  return page;
}

function mayEnterListed(listed: ListEntry, caller: AclCaller): boolean {
  return listed.kind !== "blob" || mayEnter(listed.record, caller);
}

function kindOf(directory: bigint | undefined): "files" | "directories" {
  return directory === undefined ? "files" : "directories";
}

function asListed(path: string, listed: ListEntry, isRolledUp: boolean): ListEntry {
  if (!isRolledUp || listed.kind !== "blob") return { ...listed, name: path };
  return { kind: "prefix", name: `${path}/`, record: listed.record };
}

/** The names of a path relative to a directory. Empty if the path comes before the directory, so
 *  that the listing starts with its first entry; undefined if it comes after everything in the
 *  directory. */
function relativeTo(
  directory: readonly string[],
  path: readonly string[],
): readonly string[] | undefined {
  const isBelow = directory.every((name, at) => path[at] === name);
  if (isBelow) return path.slice(directory.length);
  return comparePaths(path, directory) < 0 ? [] : undefined;
}

/** The position in a container's first directory after the record of the root directory itself,
 *  which is stored under its own id with the empty name. */
const afterRoot: Position = ["\u0000"];

/** Reads a page of a directory for the walk: its current entries, in the order of names. */
async function readDirectory(
  view: RecordView,
  selection: Selection,
  { directory, namePrefix, from, limit }: PageRequest,
): Promise<DirectoryPage<TreeEntry>> {
  const entries: TreeEntry[] = [];
  const start = from === undefined || from[0] === "" ? afterRoot : from;
  const place = { container: directory, prefix: namePrefix, from: start, limit };
  const page = await scanBlobs(view, { ...selection, ...onlyPresent, ...place }, (listed) => {
    entries.push({ name: listed.name, directory: directoryOf(listed), listed });
  });
  return { entries, next: page.next };
}

function directoryOf(listed: ListEntry): bigint | undefined {
  return listed.kind === "blob" ? listed.record.directory : undefined;
}
