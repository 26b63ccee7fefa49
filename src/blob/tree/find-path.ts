import type { RecordView } from "../../operation/view.ts";
import { blobNameUnitsMax } from "../../protocol/names.ts";
import { directoryNames } from "../indexes.ts";
import { plainElement, textElement } from "../../encoding/xml-writer.ts";
import { defaultAccess } from "../../protocol/posix-access.ts";
import {
  defaultUmask,
  formatAcl,
  formatPermissions,
  type PosixAccess,
} from "../../protocol/posix-acl.ts";
import { blobs, isExpired, type BlobRecord, type BlobKey } from "../records.ts";
import { mapAwaitable, type Awaitable } from "../../base/awaitable.ts";
import type { GuardContext } from "../../operation/service.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobPolicy } from "../blob-policy.ts";
import type { Protection } from "../protection/protection.ts";
import type { BlobAddress } from "../resources.ts";
import { hasFolderMark } from "./create-parents.ts";

/** Paths of files and directories in a tree: how they are found, compared and checked, and the
 *  headers and XML elements that report them. A path is names separated by slashes. Empty names do
 *  not count, so that `a//b/` and `a/b` are the same path, and the path of the root is empty.
 *  `blob/resources.ts` loads targets of hierarchical accounts with `findPath`. */

export function splitPath(path: string): readonly string[] {
  return path.split("/").filter((component) => component !== "");
}

/** The path of an entry of `directory`; the path of the root is empty. */
export function joinPath(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

/** Compares two paths in depth-first order: a directory comes before its entries, and these before
 *  its next sibling. Siblings are ordered by the UTF-8 bytes of their names, like keys. */
export function comparePaths(left: readonly string[], right: readonly string[]): number {
  for (const [at, name] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (name === other) continue;
    return Buffer.compare(Buffer.from(name), Buffer.from(other));
  }
  return left.length - right.length;
}

interface DirectoryPath {
  readonly container: bigint;
  readonly names: readonly string[];
}

/** Finds the path of a directory from its id, up to the container. An id of no directory counts as
 *  that of a container, by which blobs of flat accounts are keyed. */
export async function pathOfDirectory(view: RecordView, id: bigint): Promise<DirectoryPath> {
  const names: string[] = [];
  let current = id;
  while (names.length <= blobNameUnitsMax) {
    const place = await view.get(directoryNames, { id: current });
    if (place === undefined || place.name === rootName) break;
    names.unshift(place.name);
    current = place.parent;
  }
  return { container: current, names };
}

const defaults = {
  file: defaultAccess("file", defaultUmask),
  directory: defaultAccess("directory", defaultUmask),
};

/** The type of a path as responses of both APIs (Blob and Data Lake) name it. */
export function resourceType({ directory }: BlobRecord): "file" | "directory" {
  return directory === undefined ? "file" : "directory";
}

export function accessOf(record: BlobRecord): PosixAccess {
  return record.posix ?? defaults[resourceType(record)];
}

/** The first x-ms-version in which reads return the access control list. */
const aclSince = "2024-05-04";

/** The headers that responses to reads on a hierarchical account have besides those of a blob:
 *  type, owner and permissions. */
export function pathHeaders(record: BlobRecord, version: string) {
  const access = accessOf(record);
  return {
    "x-ms-resource-type": resourceType(record),
    "x-ms-owner": access.owner,
    "x-ms-group": access.group,
    "x-ms-permissions": formatPermissions(access),
    "x-ms-acl": version >= aclSince ? formatAcl(access) : undefined,
    "x-ms-encryption-context": record.encryptionContext,
  };
}

export function pathElements(record: BlobRecord, withPermissions: boolean): string {
  const type = plainElement("ResourceType", resourceType(record));
  if (!withPermissions) return type;
  const access = accessOf(record);
  return (
    textElement("Owner", access.owner) +
    textElement("Group", access.group) +
    plainElement("Permissions", formatPermissions(access)) +
    textElement("Acl", formatAcl(access)) +
    type
  );
}

/** Which directories above a path exist, for reads and writes of the path. */
interface ResolvedParents {
  /** The records of the directories that exist, from the top down, without the root. */
  readonly ancestors: readonly BlobRecord[];
  /** The names of the directories that do not exist, from the top down. */
  readonly missing: readonly string[];
  /** The id of the last directory; undefined if any is missing. */
  readonly id: bigint | undefined;
  /** Whether a file has the name of the first missing directory, so that it cannot be created. */
  readonly isBlocked: boolean;
}

/** Looks up the directories of a path from the directory `id` down, one by one; synchronously,
 *  unless a lookup returns a promise. Entries are keyed by the id of their directory and by their
 *  own name, so that renaming a directory changes one key, however many entries are below it.
 *  `ancestors`: the directories that were found already. */
export function resolveParents(
  view: RecordView,
  id: bigint,
  names: readonly string[],
  ancestors: BlobRecord[] = [],
): Awaitable<ResolvedParents> {
  const name = names[ancestors.length];
  if (name === undefined) return { ancestors, missing: noNames, id, isBlocked: false };
  return mapAwaitable(view.get(blobs, { container: id, name }), (record) => {
    const isPresent = record !== undefined && !isExpired(record, view.now);
    if (!isPresent || record.directory === undefined) {
      const missing = names.slice(ancestors.length);
      return { ancestors, missing, id: undefined, isBlocked: isPresent };
    }
    ancestors.push(record);
    return resolveParents(view, record.directory, names, ancestors);
  });
}

const noNames: readonly string[] = [];

/** Whether a rename would move a directory into itself or below itself. */
export function isWithin(
  { directory }: BlobRecord,
  ancestorsOfTarget: readonly BlobRecord[],
): boolean {
  return directory !== undefined && ancestorsOfTarget.some((each) => each.directory === directory);
}

const passed = ok(undefined);

interface PathInput {
  readonly metadata?: Metadata | undefined;
  readonly protection?: Protection | undefined;
}

/** Rejects what hierarchical accounts do not support in operations that they otherwise have:
 *  immutability, most operations on directories, and new paths that no path may have. */
export function checkPath(
  { content, directories }: BlobPolicy,
  { operation, address, input, target }: GuardContext<BlobAddress>,
): Result<void> {
  const { protection, metadata = [] } = input as PathInput;
  const isProtected = (protection?.immutability ?? protection?.legalHold) !== undefined;
  if (isProtected) return fail("FeatureNotYetSupportedForHierarchicalNamespaceAccounts");
  const creates = target === undefined && operation.effect === "writes";
  if (creates) return checkNewPath(address.blob);
  const record = target as BlobRecord | undefined;
  if (record?.directory === undefined || directories === undefined) return passed;
  if (directories === "recreate" && hasFolderMark(metadata)) return passed;
  // `replace` is Put Blob and similar operations on the path of a directory.
  return fail(content === "replace" ? "PathConflict" : "OperationNotSupportedOnDirectory");
}

// Azure's limits for new paths: names in a path, and UTF-16 code units of a name. Renaming a
// directory may make the paths below it longer.
const pathSegmentsMax = 60;
const segmentUnitsMax = 255;

/** Fails if a path must not be created. Names `.` and `..` are rejected: clients and proxies would
 *  resolve them and address another path. */
export function checkNewPath(path: string): Result<void> {
  const names = splitPath(path);
  if (names.length > pathSegmentsMax) return fail("PathIsTooDeep");
  const isNamed = names.every((name) => name.length <= segmentUnitsMax && !/^\.\.?$/.test(name));
  return isNamed ? passed : fail("InvalidUri");
}

/** Where a path of a container is stored. On flat accounts the whole name, with its slashes, is one
 *  key. */
export interface PathScope {
  /** The key of the target, whether or not it exists. */
  readonly key: BlobKey;
  /** The records of the directories from the root to the parent; empty on flat accounts. */
  readonly ancestors: readonly BlobRecord[];
  /** The names of the parent directories that do not exist, from the top down. */
  readonly missingParents: readonly string[];
  /** Whether a file has the name of the first missing directory, so that it cannot be created. */
  readonly hasFileAsParent: boolean;
}

/** The directory id in the key of a path whose parents are missing: no directory has this id, so
 *  nothing is found under it. */
const noDirectory = 0n;

/** The name under which the root directory of a container is stored, with the container's id. */
export const rootName = "";

/** Looks up a path on a hierarchical account, one record for each name in it. The empty path is
 *  that of the root directory. */
export function findPath(view: RecordView, container: bigint, path: string): Awaitable<PathScope> {
  const components = splitPath(path);
  const name = components.at(-1);
  if (name === undefined) return withoutParents({ container, name: rootName });
  const names = components.slice(0, -1);
  return mapAwaitable(view.get(blobs, { container, name: rootName }), (root) =>
    mapAwaitable(resolveParents(view, container, names), (parents) => {
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

/** The location of a root directory, or of a name of a flat account: no directory is above it. */
export function withoutParents(key: BlobKey): PathScope {
  return { key, ancestors: none, missingParents: none, hasFileAsParent: false };
}

const none: readonly [] = [];
