import { emptyContent } from "../../../content/content-ref.ts";
import { periodJob } from "../../../operation/effects.ts";
import { mapAwaitable, type Awaitable } from "../../../base/awaitable.ts";
import type { RecordView } from "../../../operation/view.ts";
import { encryption } from "../../../protocol/encryption.ts";
import { startLease } from "../../../protocol/lease.ts";
import type { Permission } from "../../../protocol/permission.ts";
import { header, oneOf, query, text, type InputOf } from "../../../protocol/params.ts";
import type { AclCaller, PathKind } from "../../../protocol/posix-access.ts";
import { fail, ok, type Result } from "../../../protocol/result.ts";
import type { Ticks } from "../../../base/ticks.ts";
import { chooseEncryption, encryptionHeaders } from "../../shared/create-blob.ts";
import type { BlobPolicy } from "../../blob-policy.ts";
import { storedUpload } from "../../block/read-blocks.ts";
import { blobs, type BlobRecord, type UploadRecord } from "../../records.ts";
import { isHierarchical, pathOperation, type ContainerScope } from "../../resources.ts";
import {
  blobKey,
  dropUpload,
  heldLease,
  nextVersion,
  preservePrevious,
  type OverwriteContext,
} from "../../shared/overwrite.ts";
import { hasBlobsBelow, isBelowFile } from "../../shared/prefixes.ts";
import { hasFolderMark, withFolderMark } from "../../tree/create-parents.ts";
import { rootName } from "../../tree/find-path.ts";
import { expiryOf, expiryOption } from "../../write/set-blob-properties.ts";
import {
  acl,
  contentHeaders,
  encryptionContext,
  group,
  newLease,
  newProperties,
  owner,
  permissions,
  transactionId,
  umask,
} from "../params.ts";
import { accessOfNew, ownershipNeed } from "../access/access-control.ts";

/** Create File and Create Directory of the Data Lake API, on hierarchical and flat accounts. */

const params = {
  properties: newProperties,
  headers: contentHeaders,
  permissions,
  umask,
  acl,
  owner,
  group,
  lease: newLease,
  expiryOption,
  expiryTime: header("x-ms-expiry-time", text),
  encryptionContext,
  transactionId,
  blobType: query("blobtype", oneOf("blockblob", "appendblob")),
  encryption,
};

const permission: Permission = {
  letters: "cw",
  resourceType: "o",
  overwrite: true,
  furtherActions: ownershipNeed,
};

const policy: Omit<BlobPolicy, "event"> = {
  content: "replace",
  generations: "current",
  pendingCopy: "reject",
  clientKey: "none",
};

/** Declares Create File and Create Directory. An existing file loses its content; an existing
 *  directory keeps its entries.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/create */
function declareCreate(kind: PathKind) {
  return pathOperation({
    name: kind === "file" ? "Create File" : "Create Directory",
    ids: ["Path_Create"],
    route: {
      method: "PUT",
      resource: "blob",
      query: { resource: kind },
      headers: { "x-ms-rename-source": false },
    },
    params,
    permission,
    target: "may-exist",
    conditions: "create",
    // Hadoop relies on the order of checks to detect that another writer has the file:
    // `If-None-Match: *` fails first. On flat accounts it expects the fault of the lease.
    ifNoneMatchAny: isHierarchical,
    lease: "match-if-leased",
    policy: { ...policy, event: kind === "file" ? "CreateFile" : "CreateDirectory" },
    etag: "renew",
    status: 201,
    reads: (view, { scope, target }): Awaitable<CreationReads> =>
      isHierarchical(scope)
        ? mapAwaitable(storedUpload(view, scope), (upload) => ({ upload }))
        : readFlat(view, kind, { scope, target }),
    decide: (context) => {
      const { scope, target, input, callerId, aclCaller } = context;
      const key = blobKey(context);
      if (key.name === rootName) return fail("InvalidUri");
      const { upload, isBlocked } = context.readResult;
      const isDirectory = isDirectoryRecord(scope, target);
      const isConflict = target !== undefined && isDirectory !== (kind === "directory");
      if (isConflict || isBlocked === true) return fail("PathConflict");
      const encrypted = chooseEncryption(input.encryption, scope.container);
      if (!encrypted.ok) return encrypted;
      const parent = scope.ancestors.at(-1);
      const creation = { kind, parent, existing: target, callerId, aclCaller };
      const posix = accessOfNew(input, creation);
      if (!posix.ok) return posix;
      const expiry = expiryOfNew(kind, context);
      if (!expiry.ok) return expiry;
      const record = { ...newRecord(kind, context, expiry.value), ...encrypted.value };
      const versionId = nextVersion(context);
      return {
        put: isHierarchical(scope)
          ? { ...record, posix: setsAccess(context) ? posix.value : undefined }
          : { ...record, directory: undefined, versionId },
        preserve: preservePrevious(context),
        effects: [...dropUpload(key, upload), ...periodJob(blobs, key, record)],
        headers: {
          "x-ms-request-server-encrypted": "true",
          ...encryptionHeaders(encrypted.value),
        },
      };
    },
  });
}

/** Whether owner, permissions and access control list of the request apply: to a new path, and to
 *  an existing one if the request names them, lists do not limit the caller, and the SAS permits to
 *  change them. */
function setsAccess({ target, input, aclCaller, permits }: Creation): boolean {
  if (target === undefined) return true;
  if (aclCaller !== undefined) return false;
  const { permissions: mode, acl: list, owner: user, group: team } = input;
  const setsPermissions = (mode ?? list) !== undefined;
  const setsOwners = (user ?? team) !== undefined;
  const isPermitted =
    (!setsPermissions || permits?.("p") !== false) && (!setsOwners || permits?.("o") !== false);
  return isPermitted && (setsPermissions || setsOwners);
}

function isDirectoryRecord(scope: ContainerScope, target: BlobRecord | undefined): boolean {
  if (target === undefined) return false;
  return isHierarchical(scope) ? target.directory !== undefined : hasFolderMark(target.metadata);
}

/** What the decision to create a path reads besides the target. */
interface CreationReads {
  readonly upload: UploadRecord | undefined;
  /** Set only on flat accounts: whether a file has the name of a parent directory, or the new file
   *  has the name of a directory. */
  readonly isBlocked?: boolean;
}

/** Reads, on a flat account, whether blobs prevent the new path: a file with the name of a parent
 *  directory, or a directory with the name of the new file. */
async function readFlat(
  view: RecordView,
  kind: PathKind,
  { scope, target }: Pick<Creation, "scope" | "target">,
): Promise<CreationReads> {
  const key = blobKey({ scope });
  const upload = await storedUpload(view, scope);
  if (target !== undefined) return { upload };
  const isTaken = kind === "file" && (await hasBlobsBelow(view, key));
  return { upload, isBlocked: isTaken || (await isBelowFile(view, key)) };
}

/** The part of the decision context that Create File and Create Directory use. */
interface Creation extends OverwriteContext {
  readonly input: InputOf<typeof params>;
  readonly newId: () => bigint;
  readonly aclCaller: AclCaller | undefined;
  readonly permits: ((letter: string) => boolean) | undefined;
}

/** The time at which the new file expires and is deleted; undefined if the request sets none. */
function expiryOfNew(kind: PathKind, { scope, input, now }: Creation): Result<Ticks | undefined> {
  const { expiryOption: option, expiryTime } = input;
  if (option === undefined) return ok(undefined);
  if (!isHierarchical(scope)) return fail("HierarchicalNamespaceNotEnabled");
  if (kind === "directory") return fail("ExpiryNotSupportedForDirectory");
  return expiryOf(option, expiryTime, { created: now, now });
}

/** The record of a path that is created, or replaced by an empty one. A leased path stays leased,
 *  and a directory keeps its id, by which its entries are keyed. */
function newRecord(kind: PathKind, creation: Creation, expiresAt: Ticks | undefined): BlobRecord {
  const { target, input, newETag, now, newId } = creation;
  const { lease } = input;
  const isDirectory = kind === "directory";
  const isForAppends = !isDirectory && input.blobType === "appendblob";
  return {
    etag: newETag,
    created: target?.created ?? now,
    type: isForAppends ? "AppendBlob" : "BlockBlob",
    content: emptyContent,
    headers: input.headers,
    metadata: isDirectory ? withFolderMark(input.properties) : input.properties,
    lease: lease === undefined ? heldLease(creation) : startLease(lease.id, lease.seconds, now),
    expiresAt,
    directory: isDirectory ? (target?.directory ?? newId()) : undefined,
    encryptionContext: input.encryptionContext,
    committedBlockCount: isForAppends ? 0 : undefined,
    writtenBy: "dfs",
    transactionId: input.transactionId,
  };
}

export const createFile = declareCreate("file");
export const createDirectory = declareCreate("directory");
