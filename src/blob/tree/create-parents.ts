import { emptyContent } from "../../content/content-ref.ts";
import type { Metadata, HttpHeaders } from "../../protocol/metadata.ts";
import type { Ticks } from "../../base/ticks.ts";
import { defaultUmask, superuser, type PosixAccess } from "../../protocol/posix-acl.ts";
import { blobs, type BlobRecord, type BlobKey } from "../records.ts";
import { put, type Effect } from "../../operation/effects.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { CreationContext, PreparedScope, RecordCreation } from "../../operation/service.ts";
import type { BlobPolicy } from "../blob-policy.ts";
import type { ContainerScope } from "../resources.ts";
import { newPathAccess, type PathKind } from "../../protocol/posix-access.ts";

/** Directories of hierarchical accounts as records, and what every operation that creates a path
 *  does besides: it creates missing parents, and completes owner, group and access control list. */

/** Name of the metadata pair `hdi_isfolder: true`, by which clients of the Blob API recognise a
 *  directory. */
const folderMark = "hdi_isfolder";

const folderPair = [folderMark, "true"] as const;
const noHeaders: HttpHeaders = {};

interface NewDirectory {
  readonly id: bigint;
  readonly etag: Ticks;
  readonly now: Ticks;
  readonly metadata?: Metadata | undefined;
  readonly headers?: HttpHeaders | undefined;
  readonly posix?: PosixAccess | undefined;
}

export function newDirectory(fields: NewDirectory): BlobRecord {
  const { id, etag, now, metadata = [], headers = noHeaders, posix } = fields;
  return {
    etag,
    created: now,
    type: "BlockBlob",
    content: emptyContent,
    headers,
    metadata: withFolderMark(metadata),
    directory: id,
    posix,
  };
}

/** The record that stands for a directory of a flat account without a blob of its own, which is
 *  only a prefix of names. */
export function prefixDirectory(etag: Ticks): BlobRecord {
  return { ...newDirectory({ id: 0n, etag, now: etag }), directory: undefined };
}

/** Whether metadata marks a blob as a directory, as clients of the Blob API do to create one. */
export function hasFolderMark(metadata: Metadata): boolean {
  return metadata.some(
    ([name, value]) => name.toLowerCase() === folderMark && value.toLowerCase() === "true",
  );
}

/** The metadata that a directory gets: always with the mark `hdi_isfolder: true`. */
export function withFolderMark(metadata: Metadata): Metadata {
  const others = metadata.filter(([name]) => name.toLowerCase() !== folderMark);
  return [...others, folderPair];
}

type Creation = Pick<CreationContext, "newId" | "newETag" | "now" | "callerId">;

/** Returns the effects that create the missing parent directories of a new path, and the scope with
 *  these directories as ancestors. Every operation that creates a path of a hierarchical account
 *  calls it. Undefined if no parent is missing, which is always so on flat accounts. */
export function createParents(
  loadedScope: object,
  { newId, newETag, now, callerId }: Creation,
): Result<PreparedScope> | undefined {
  const scope = loadedScope as ContainerScope;
  const { missingParents, hasFileAsParent } = scope;
  if (missingParents.length === 0) return undefined;
  // The first missing directory cannot be created, because a file has its name.
  if (hasFileAsParent) return fail("PathConflict");
  const ancestors: BlobRecord[] = [...scope.ancestors];
  const effects: Effect[] = [];
  let parentId = ancestors.at(-1)?.directory ?? scope.container.id;
  let posix = ancestors.at(-1)?.posix;
  for (const name of missingParents) {
    const id = newId();
    posix = inheritedAccess("directory", posix, callerId);
    const record = newDirectory({ id, etag: newETag, now, posix });
    // On hierarchical accounts the `container` of a key is the id of the parent directory.
    effects.push(put(blobs, { container: parentId, name }, record));
    ancestors.push(record);
    parentId = id;
  }
  const key: BlobKey = { container: parentId, name: scope.key.name };
  return ok({ scope: { ...scope, key, ancestors, missingParents: [] }, effects });
}

/** Owner, group and access control list of a new path whose request sets none: inherited from its
 *  directory. Undefined if they are the defaults. */
export function inheritedAccess(
  kind: PathKind,
  parent: PosixAccess | undefined,
  callerId: string | undefined,
): PosixAccess | undefined {
  if (parent?.acl === undefined && callerId === undefined) return undefined;
  const owners = { owner: callerId ?? superuser, group: parent?.group ?? superuser };
  return newPathAccess({ kind, ...owners, mode: undefined, umask: defaultUmask, parent });
}

/** Sets owner, group and ACL of a written record: those of the record that it replaces or, if the
 *  path is new and the request sets none, those inherited from the parent directory. A request that
 *  replaces a path needs only write permission on it, so it never changes who may access the path.
 *  Hierarchical accounts only. */
export function completeAccess(
  written: object,
  { operation, scope, before, callerId }: RecordCreation,
): object {
  const { ancestors } = scope as ContainerScope;
  const record = written as BlobRecord;
  const replaced = before as BlobRecord | undefined;
  const { content } = operation.policy as BlobPolicy;
  // Recorded from Azure: permissions in the request apply if it has the account key or a SAS.
  const setsAccess = callerId === undefined && record.posix !== undefined;
  const keepsAccess = replaced !== undefined && content === "replace" && !setsAccess;
  if (keepsAccess) return withAccess(record, replaced);
  if (record.posix !== undefined) return record;
  if (replaced !== undefined) return withAccess(record, replaced);
  const kind = record.directory === undefined ? "file" : "directory";
  return withAccess(record, { posix: inheritedAccess(kind, ancestors.at(-1)?.posix, callerId) });
}

function withAccess(record: BlobRecord, { posix }: Pick<BlobRecord, "posix">): BlobRecord {
  return record.posix === posix ? record : { ...record, posix };
}
