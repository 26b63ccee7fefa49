import { emptyContent } from "../../content/content-ref.ts";
import { reclaimAt, type Effect } from "../../operation/effects.ts";
import { noBody } from "../../operation/operation.ts";
import { encryption } from "../../protocol/encryption.ts";
import { startLease } from "../../protocol/lease.ts";
import type { Permission } from "../../protocol/permission.ts";
import { header, oneOf, query, text, type InputOf } from "../../protocol/params.ts";
import type { PathKind } from "../../protocol/posix-access.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import {
  chooseEncryption,
  encryptionHeaderNames,
  encryptionHeaders,
} from "../shared/blob-encryption.ts";
import type { BlobPolicy } from "../blob-policy.ts";
import { uploads, type BlobKey, type BlobRecord } from "../records.ts";
import { isHierarchical, operation, type ContainerScope } from "../resources.ts";
import { blobKey, dropUpload, nextVersion, preservePrevious } from "../shared/overwrite.ts";
import { withFolderMark } from "../tree/directory-record.ts";
import { rootName } from "../tree/find-path.ts";
import { expiryOf, expiryOption } from "../write/set-blob-expiry.ts";
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
} from "./params.ts";
import { accessOfNew, ownershipNeed } from "./posix.ts";

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

const policy: BlobPolicy = {
  content: "replace",
  generations: "current",
  pendingCopy: "reject",
  clientKey: "none",
};

const createdHeaders = ["x-ms-request-server-encrypted", ...encryptionHeaderNames] as const;

/** Declares Create File and Create Directory. An existing file loses its content; an existing
 *  directory keeps its entries.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/create */
function declareCreate(kind: PathKind) {
  return operation({
    name: kind === "file" ? "Create File" : "Create Directory",
    ids: ["Path_Create"],
    route: {
      method: "PUT",
      resource: "blob",
      query: { resource: kind },
      headers: { "x-ms-rename-source": false },
    },
    since: "2018-11-09",
    params,
    body: noBody,
    permission,
    target: "may-exist",
    conditions: "create",
    // Hadoop relies on it to find out that another writer has the file.
    existenceFirst: true,
    lease: "match-if-leased",
    policy,
    etag: "renew",
    effect: "writes",
    success: { status: 201, headers: createdHeaders },
    reads: (view, { scope }) => view.get(uploads, blobKey({ scope })),
    decide: (context) => {
      const { scope, target, input, callerId, aclCaller } = context;
      const key = blobKey(context);
      if (key.name === rootName) return fail("InvalidUri");
      const isDirectory = target?.directory !== undefined;
      const isConflict = target !== undefined && isDirectory !== (kind === "directory");
      if (isHierarchical(scope) && isConflict) return fail("PathConflict");
      const encrypted = chooseEncryption(input.encryption, scope.container);
      if (!encrypted.ok) return encrypted;
      const creation = { kind, parent: scope.ancestors.at(-1), callerId, aclCaller };
      const posix = accessOfNew(input, creation);
      if (!posix.ok) return posix;
      const expiry = expiryOfNew(context);
      if (!expiry.ok) return expiry;
      const record = { ...newRecord(kind, context, expiry.value), ...encrypted.value };
      const versionId = nextVersion(context);
      return {
        put: isHierarchical(scope)
          ? { ...record, posix: posix.value }
          : { ...record, directory: undefined, versionId },
        preserve: preservePrevious(context),
        effects: [...dropUpload(key, context.readResult), ...expireAt(key, expiry.value)],
        headers: {
          "x-ms-request-server-encrypted": "true",
          ...encryptionHeaders(encrypted.value),
        },
      };
    },
  });
}

/** The reclaim job that deletes the path at its expiry time. */
function expireAt({ container, name }: BlobKey, time: Ticks | undefined): readonly Effect[] {
  return time === undefined ? [] : [reclaimAt(time, "blob-expiry", container, name)];
}

/** What the record of a new path depends on. */
interface Creation {
  readonly scope: ContainerScope;
  readonly target: BlobRecord | undefined;
  readonly input: InputOf<typeof params>;
  readonly newETag: Ticks;
  readonly now: Ticks;
  readonly newId: () => bigint;
}

/** The expiry time that the request sets; undefined if it sets none. */
function expiryOfNew({ scope, input, now }: Creation): Result<Ticks | undefined> {
  const { expiryOption: option, expiryTime } = input;
  if (option === undefined) return ok(undefined);
  if (!isHierarchical(scope)) return fail("HierarchicalNamespaceNotEnabled");
  return expiryOf(option, expiryTime, { created: now, now });
}

/** The record of a new path. A leased path stays leased, and a directory keeps its id, by which its
 *  entries are keyed. */
function newRecord(
  kind: PathKind,
  { target, input, newETag, now, newId }: Creation,
  expiresAt: Ticks | undefined,
): BlobRecord {
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
    lease: lease === undefined ? target?.lease : startLease(lease.id, lease.seconds, now),
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
