import { splitPath, findPath, accessOf } from "./find-path.ts";
import type { RecordView } from "../../operation/view.ts";
import { executeBit, grants, mayAccess, readBit } from "../../protocol/posix-access.ts";
import type { AclCaller } from "../../protocol/posix-access.ts";
import { blobs, type BlobRecord } from "../records.ts";

/** Which directories access control lists (POSIX permissions of hierarchical accounts) permit a
 *  caller to list, for listings, searches and recursive changes. */

const listBits = readBit | executeBit;

/** The listing that a caller wants to start, whose directory and first path are checked. */
interface DirectoryListing {
  readonly container: bigint;
  readonly directory: string;
  /** The path with which the listing starts; undefined for the first entry. */
  readonly from: string | undefined;
}

/** Whether access control lists permit a caller to start a listing: they must grant reading the
 *  directory, and each directory from there to the first path. The first path is client input, so
 *  it may be in a directory that no earlier page has checked. */
export async function mayList(
  view: RecordView,
  { container, directory, from }: DirectoryListing,
  caller: AclCaller,
): Promise<boolean> {
  const { key, ancestors } = await findPath(view, container, directory);
  const record = await view.get(blobs, key);
  // Undefined for a file: listing a file needs no permission on it.
  const target = record?.directory === undefined ? undefined : accessOf(record);
  const access = { ancestors: ancestors.map(accessOf), target };
  if (!mayAccess(access, caller, { target: listBits })) return false;
  if (from === undefined) return true;
  const above = (await findPath(view, container, from)).ancestors;
  return above.slice(splitPath(directory).length).every((each) => mayEnter(each, caller));
}

/** Whether access control lists let a caller see the entries of a directory in a recursive listing
 *  of the container: a search by tags shows only such entries. */
export async function mayListAll(
  view: RecordView,
  container: bigint,
  directory: readonly string[],
  caller: AclCaller,
): Promise<boolean> {
  const { ancestors } = await findPath(view, container, [...directory, "entry"].join("/"));
  return ancestors.every((each) => mayEnter(each, caller));
}

/** Whether a recursive listing of a caller may continue below this path; true for files. */
export function mayEnter(record: BlobRecord, caller: AclCaller): boolean {
  return record.directory === undefined || grants(accessOf(record), caller, listBits);
}
